/** What the first mail says: it is answered here and needs no way out. */
export const FIRST_MAIL = {
  from: "Posthorn <hello@posthorn.test>",
  to: "delivered@posthorn.test",
  subject: "First mail",
  html: "<p>It works.</p>",
};

/** The call that sends a mail, for a shell that has the key in POSTHORN_KEY. */
export const curlCall = (publicUrl: string, mail: object): string =>
  [
    `curl -sS ${publicUrl}/api/emails`,
    `  -H "Authorization: Bearer $POSTHORN_KEY"`,
    `  -H "Content-Type: application/json"`,
    `  -d ${quote(JSON.stringify(mail, null, 2).replaceAll("\n", "\n  "))}`,
  ].join(" \\\n");

/** Quoted for a POSIX shell: within single quotation marks nothing has a meaning but their end. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
