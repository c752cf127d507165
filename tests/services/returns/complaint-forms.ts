const crlf = (text: string): string => text.replace(/\r?\n/g, "\r\n");

/** The parts of a complaint around the returned copy. */
export type Form = {
  from?: string;
  subject?: string;
  type?: string;
  /** The text for people. */
  text?: string;
  /** The type and the fields of the second part; null: there is none. */
  fields: [type: string, fields: string] | null;
  returned?: string;
};

let count = 0;

/** A complaint about this copy of an email, with its recipient as the provider would name it. */
export function inForm(form: Form, copy: string, address: string): string {
  const { from = "fbl@provider.example", subject = "FW: Hello", text, fields } = form;
  const { type = "multipart/report; report-type=feedback-report", returned = "message/rfc822" } = form;
  const parts = [
    ...(text === undefined ? [] : [`Content-Type: text/plain\n\n${text}\n`]),
    ...(fields === null
      ? []
      : [`Content-Type: ${fields[0]}\n\n${fields[1].replaceAll("ADDRESS", address)}\n`]),
    `Content-Type: ${returned}\n\n${form.type === JMRP ? `X-HmXmrOriginalRecipient: ${address}\n` : ""}${copy}`,
  ];
  return crlf(`From: ${from}
To: feedback@bounces.example.com
Subject: ${subject}
Message-ID: <complaint-${++count}@provider.example>
MIME-Version: 1.0
Content-Type: ${type}; boundary="=_b"

${parts.map((part) => `--=_b\n${part}\n`).join("")}--=_b--
`);
}

const JMRP = "multipart/mixed";
const REPORT = "message/feedback-report";
const text = "This is an email abuse report for an email message received from IP 192.0.2.1.";
const FIELDS = "Feedback-Type: abuse\nUser-Agent: Provider/2.0\nVersion: 1\n";

/** The forms in which providers send complaints. */
export const FORMS: Record<string, Form> = {
  "a report with all fields": { text, fields: [REPORT, `${FIELDS}Original-Rcpt-To: <ADDRESS>\n`] },
  "a report without User-Agent and Version": {
    text,
    fields: [REPORT, "Abuse-Type: complaint\nFeedback-Type: abuse\nOriginal-Rcpt-To: hidden@example.net\n"],
  },
  "a report without its type": { text, fields: [REPORT, "Source-IP: 192.0.2.1\n"] },
  "a report without any field": { fields: [REPORT, ""] },
  "a report without the part for fields": { text, fields: null },
  "a report whose fields are a text": {
    type: "multipart/mixed; x=y",
    fields: ["text/plain; name=report.txt", `${FIELDS}Removal-Recipient: ADDRESS\n`],
  },
  "a report of an old form": { text, fields: [REPORT, FIELDS], returned: "text/rfc822-header" },
  "a report with a type of its own words": {
    fields: [REPORT, "Feedback-Type: Spam-Complaint\nVersion: 2\n"],
  },
  "an opt-out": { text: "This is an opt-out report for a message.", fields: [REPORT, "Version: 1\n"] },
  "a complaint of Microsoft's program": {
    from: "staff@hotmail.com",
    subject: " complaint about message from 192.0.2.1",
    type: JMRP,
    fields: null,
  },
  "a notice for people only": {
    type: "multipart/mixed; x=y",
    text: "This is a Provider email abuse report for a message received on Monday.",
    fields: null,
  },
};

/** A complaint with all fields, about this copy. */
export const fullReport = (copy: string, recipient: string, returnPath = ""): string =>
  inForm(
    {
      text,
      fields: [
        REPORT,
        `${FIELDS}${recipient && `Original-Rcpt-To: ${recipient}\n`}${returnPath && `Original-Mail-From: <${returnPath}>\n`}`,
      ],
    },
    copy,
    recipient,
  );
