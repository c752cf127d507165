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

/** The body of a request with an email of ordinary length. */
export const emailBody = (n: number) => ({
  from: SENDER,
  to: recipientOf(n),
  subject: subjectOf(n),
  html: emailHtml(n),
});
export const emailJson = JSON.stringify(emailBody(1));

/** A request as autocannon sends it. */
export type Target = { url: string; headers?: Record<string, string>; body?: string };

/** An email of ordinary length, submitted over HTTP. */
export const acceptTarget = (serverPort: number, token: string): Target => ({
  url: `http://127.0.0.1:${serverPort}/api/emails`,
  headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
  body: emailJson,
});
