/** The returned email, as it appears at the end of a report. */
export const RETURNED = `Return-Path: <bounce-token@bounces.example.com>
Received: from mail.example.com (mail.example.com [192.0.2.1])
	by mx.example.net; Sat, 21 Nov 2026 10:00:00 +0000
Message-ID: <0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e@example.org>
From: Ann <ann@example.org>
To: ben@example.net
Subject: Hello
List-Unsubscribe: <https://mail.example.com/api/unsubscribe/tkn>
`;

const crlf = (text: string): Buffer => Buffer.from(text.replace(/\r?\n/g, "\r\n"), "latin1");

export type DsnOptions = {
  /** The fields of each recipient, verbatim. */
  recipients: string[];
  head?: string;
  status?: { type?: string; encoding?: string; head?: string };
  returned?: { type?: string; text?: string };
  to?: string;
  id?: string;
};

/** A report in the format of RFC 3464, with three parts. */
export function dsn(options: DsnOptions): Buffer {
  const {
    recipients,
    head = "",
    status = {},
    returned = {},
    to = "bounce-token@bounces.example.com",
  } = options;
  const blocks = [status.head ?? "Reporting-MTA: dns; mx.example.net\n", ...recipients].join("\n");
  const body = status.encoding === "base64" ? `${Buffer.from(blocks).toString("base64")}\n` : blocks;
  return crlf(`From: MAILER-DAEMON@mx.example.net (Mail Delivery System)
To: ${to}
Subject: Undelivered Mail Returned to Sender
Message-ID: <${options.id ?? "report-1"}@mx.example.net>
Auto-Submitted: auto-replied
${head}MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="=_one/1;x"

This is a MIME-encapsulated message.

--=_one/1;x
Content-Type: text/plain; charset=us-ascii

It could not be delivered.

--=_one/1;x
Content-Type: ${status.type ?? "message/delivery-status"}
${status.encoding ? `Content-Transfer-Encoding: ${status.encoding}\n` : ""}
${body}
--=_one/1;x
Content-Type: ${returned.type ?? "message/rfc822"}

${returned.text ?? RETURNED}
The mail itself.
--=_one/1;x--
`);
}

/** The fields of one recipient. */
export const failed = (address: string, diagnostic: string, status = "5.0.0"): string =>
  `Final-Recipient: rfc822; ${address}\nAction: failed\nStatus: ${status}\nRemote-MTA: dns; mx.example.net\nDiagnostic-Code: smtp; ${diagnostic}\n`;

/** A plain message with the returned email below its text. */
export const letter = (head: string, text: string): Buffer =>
  crlf(`To: bounce-token@bounces.example.com\nMessage-ID: <letter-1@mx.example.net>\n${head}\n${text}`);

/** A complaint in the format of RFC 5965. */
export function arf(fields: string, returned = RETURNED): Buffer {
  return crlf(`From: <abusedesk@example.net>
To: <fbl@example.com>
Subject: FW: Hello
Message-ID: <complaint-1@example.net>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="part1_13d.2e68ed54_boundary"

--part1_13d.2e68ed54_boundary
Content-Type: text/plain; charset="US-ASCII"

This is an email abuse report.

--part1_13d.2e68ed54_boundary
Content-Type: message/feedback-report

${fields}
--part1_13d.2e68ed54_boundary
Content-Type: message/rfc822
Content-Disposition: inline

${returned}
Spam.
--part1_13d.2e68ed54_boundary--
`);
}

const COPY = `${RETURNED}\nThe mail itself.\n`;

/** Bounces of servers that do not use RFC 3464. */
export const PLAIN_BOUNCES: Record<string, Buffer> = {
  qmail: letter(
    "From: MAILER-DAEMON@mx.example.net\nSubject: failure notice\n",
    `Hi. This is the qmail-send program at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<ben@example.net>:
Sorry, no mailbox here by that name. (#5.1.1)

<cy@example.net>:
192.0.2.9 does not like recipient.
Remote host said: 552 5.2.2 mailbox full
Giving up on 192.0.2.9.

--- Below this line is a copy of the message.

${COPY}`,
  ),
  exim: letter(
    "From: Mail Delivery System <Mailer-Daemon@mx.example.net>\nX-Failed-Recipients: ben@example.net,\n  cy@example.net\nAuto-Submitted: auto-replied\nSubject: Mail delivery failed: returning message to sender\n",
    `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ben@example.net
    SMTP error from remote mail server after RCPT TO:<ben@example.net>:
    host mx.example.net [192.0.2.9]: 550 5.1.1 <ben@example.net>:
    Recipient address rejected: User unknown
  cy@example.net
    retry timeout exceeded

------ This is a copy of the message, including all the headers. ------

${COPY}`,
  ),
  "old Exchange": letter(
    "From: System Administrator <postmaster@example.net>\nSubject: Undeliverable: Hello\n",
    `Your message

  To:      ben@example.net
  Subject: Hello
  Sent:    Sat, 21 Nov 2026 10:00:00 +0000

did not reach the following recipient(s):

ben@example.net on Sat, 21 Nov 2026 10:00:03 +0000
    The recipient name is not recognized
	The MTS-ID of the original message is: c=US;a= ;p=Example;l=MAIL-261121
    MSEXCH:IMS:Example:SITE:MAIL 0 (000C05A6) Unknown Recipient
`,
  ),
  "newer Exchange": letter(
    "From: Microsoft Outlook <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@example.net>\nSubject: Undeliverable: Hello\n",
    `Delivery has failed to these recipients or groups:

ben@example.net
The e-mail address you entered couldn't be found. Please check the recipient's
e-mail address and try to resend the message.

Diagnostic information for administrators:

Generating server: mail.example.net

ben@example.net
#550 5.1.1 RESOLVER.ADR.RecipNotFound; not found ##

Original message headers:

${COPY}`,
  ),
  Postfix: letter(
    "From: MAILER-DAEMON@mx.example.net (Mail Delivery System)\nSubject: Undelivered Mail Returned to Sender\n",
    `This is the mail system at host mx.example.net.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

<ben@example.net>: host mx.example.net[192.0.2.9] said: 550 5.1.1
    <ben@example.net>: Recipient address rejected: User unknown in virtual
    mailbox table (in reply to RCPT TO command)

${COPY}`,
  ),
  sendmail: letter(
    "From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>\nSubject: Returned mail: see transcript for details\n",
    `The original message was received at Sat, 21 Nov 2026 10:00:00 GMT
from mail.example.com [192.0.2.1]

   ----- The following addresses had permanent fatal errors -----
<ben@example.net>

   ----- Transcript of session follows -----
... while talking to mx.example.net.:
>>> RCPT To:<ben@example.net>
<<< 550 5.1.1 <ben@example.net>... User unknown
550 <ben@example.net>... User unknown

   ----- Original message follows -----

${COPY}`,
  ),
  Gmail: letter(
    "From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>\nSubject: Delivery Status Notification (Failure)\n",
    `Delivery to the following recipient failed permanently:

     ben@example.net

Technical details of permanent failure:
Google tried to deliver your message, but it was rejected by the server for the recipient domain example.net by mx.example.net. [192.0.2.9].

The error that the other server returned was:
550 5.1.1 No such user here

----- Original message -----

${COPY}`,
  ),
};
