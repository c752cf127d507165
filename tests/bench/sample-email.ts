const PARAGRAPH =
  "Thank you for your order. We packed it this morning, and the parcel service has promised to ring twice. " +
  "If anything is broken or missing, reply to this email and a person will read it; Grüße aus Köln. ";

/** An email of ordinary length, about 3 KB of HTML, different for every `n`. */
export function emailHtml(n: number): string {
  const rows = Array.from(
    { length: 9 },
    (_, row) => `<tr><td style="padding:8px 12px;font:15px sans-serif">${row + 1}. ${PARAGRAPH}</td></tr>`,
  );
  return `<!doctype html><html><body><h1>Order ${n}</h1><table width="100%">${rows.join("\n")}</table></body></html>`;
}

export const SENDER = "Ann Smith <ann@bench.example>";
export const SENDER_DOMAIN = "bench.example";
export const recipientOf = (n: number): string => `reader-${n}@customers.example`;
export const subjectOf = (n: number): string => `Your order ${n} is on its way`;
