/** Needs no domain, and email of it never leaves the installation. */
const SENDER = "hello@backstamp.test";

/**
 * Bytes of a stranger or a tenant that are as expensive to read as the limits allow, and the way they come
 * in.
 */
export type HostileInput = { what: string } & (
  | { by: "submission" | "returns"; message: Buffer }
  | { by: "rest"; path: string; type: string; body: Buffer }
);

/** The names of the fields and templates of the attacking team that the inputs use. */
export type Furniture = { templateId: string };

const submittedBytes = 20_000_000;
const fieldBytes = 240_000;
const returnedBytes = 1_000_000;

const HEADER = `From: ${SENDER}\r\nTo: delivered@backstamp.test\r\nSubject: Hello\r\n`;
const MIXED = 'Content-Type: multipart/mixed; boundary="B"\r\n\r\n--B\r\n';

const fill = (text: string, bytes: number): string =>
  text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes);
const lines = (line: string, bytes: number): string =>
  `${line}\r\n`.repeat(Math.ceil(bytes / (line.length + 2)));
const folded = (text: string, bytes: number): string => fill(`${fill(text, 70)}\r\n `, bytes);

/** Each is the most expensive of its kind that was found. */
export function hostileInputs({ templateId }: Furniture): HostileInput[] {
  const submitted = (what: string, message: string): HostileInput => ({
    what: `submission: ${what}`,
    by: "submission",
    message: Buffer.from(`${message}\r\n.\r\n`, "latin1"),
  });
  const returned = (what: string, message: string): HostileInput => ({
    what: `bounce listener: ${what}`,
    by: "returns",
    message: Buffer.from(`${message}\r\n.\r\n`, "latin1"),
  });
  const posted = (what: string, path: string, body: string, type = "application/json"): HostileInput => ({
    what: `API: ${what}`,
    by: "rest",
    path,
    type,
    body: Buffer.from(body),
  });
  const email = (fields: object) =>
    JSON.stringify({ from: SENDER, to: "delivered@backstamp.test", subject: "Hello", text: "x", ...fields });
  const items = Array.from({ length: 70 }, () => ({}));
  return [
    submitted("lines like the boundary", `${HEADER}${MIXED}\r\n${lines("--Bx", submittedBytes)}--B--`),
    submitted(
      "parts in parts",
      `${HEADER}${MIXED}${fill('Content-Type: multipart/mixed; boundary="B"\r\n\r\n--B\r\n', 1_000)}\r\n${lines("x", submittedBytes)}`,
    ),
    submitted(
      "quoted-printable",
      `${HEADER}Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${lines(fill("=41=", 900), submittedBytes)}`,
    ),
    submitted("an address list", `${HEADER}Cc: ${folded(";:", fieldBytes)}\r\n\r\nx`),
    submitted("encoded words", `${HEADER}Reply-To: ${folded("=?utf-8?q?a?= ", fieldBytes)}\r\n\r\nx`),
    submitted("header fields", `${HEADER}${lines("A: b", fieldBytes)}\r\nx`),
    returned("header fields, to 20 return paths", lines("A:b", returnedBytes)),
    returned(
      "a delivery report about many recipients",
      `Content-Type: multipart/report; report-type=delivery-status; boundary=B\r\n\r\n--B\r\n\r\nx\r\n--B\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns;x\r\n\r\n${lines("Final-Recipient: rfc822;a@b\r\nAction: failed\r\nStatus: 5.1.1\r\n", returnedBytes)}`,
    ),
    returned(
      "a complaint with many fields",
      `Content-Type: multipart/report; report-type=feedback-report; boundary=B\r\n\r\n--B\r\n\r\nx\r\n--B\r\nContent-Type: message/feedback-report\r\n\r\nFeedback-Type: abuse\r\n${lines("Original-Rcpt-To: a@b", returnedBytes)}`,
    ),
    returned(
      "a plain bounce",
      `From: mailer-daemon@x\r\nSubject: Undelivered\r\n\r\n${lines("<a@b>: 550 5.1.1", returnedBytes)}`,
    ),
    posted(
      "lists in lists of a template, a batch of 100",
      "/emails/batch",
      JSON.stringify(
        Array.from({ length: 100 }, () => ({
          from: SENDER,
          to: "delivered@backstamp.test",
          template: { id: templateId, variables: { a: items, b: items } },
        })),
      ),
    ),
    posted(
      "HTML without text",
      "/emails",
      email({ text: undefined, html: fill("<p><a href='x'>a", 4_000_000) }),
    ),
    posted(
      "HTML of entities, with tracking",
      "/emails",
      email({ html: fill("&amp;<a href='https://x.example/'>&lt;", 4_000_000) }),
    ),
    posted(
      "a large file",
      "/emails",
      email({ attachments: [{ filename: "a.bin", content: fill("QUFB", 39_000_000) }] }),
    ),
    posted(
      "a file as an array of numbers",
      "/emails",
      email({ attachments: [{ filename: "a.bin", content: [] }] }).replace(
        '"content":[]',
        `"content":[${fill("1,", 39_000_000)}1]`,
      ),
    ),
    posted(
      "escapes",
      "/emails",
      email({ text: "x" }).replace('"text":"x"', `"text":"${fill("\\u0041", 39_000_000)}"`),
    ),
    posted("many values", "/emails", `{"tags":[${fill("{},", 39_000_000)}{}]}`),
    posted("brackets", "/emails", fill("[", 39_000_000)),
    posted(
      "many recipients",
      "/emails/batch",
      JSON.stringify(
        Array.from({ length: 100 }, () =>
          JSON.parse(
            email({ to: Array.from({ length: 50 }, (_, n) => `${"x".repeat(60)}${n}@customers.example`) }),
          ),
        ),
      ),
    ),
    posted(
      "a list of suppressions",
      "/suppressions/csv",
      `email\n${lines("a@b.example", 10_000_000)}`,
      "text/csv",
    ),
    posted("a list of quotes", "/suppressions/csv", `email\n${fill('"",', 10_000_000)}`, "text/csv"),
  ];
}
