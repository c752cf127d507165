import { describe, expect, test } from "vitest";
import { interpretReported } from "#server/mail/bounce/judge";
import { parseReport } from "#server/mail/bounce/read-report";
import { RETURNED } from "./messages";

const RETURN_PATH = "bounce-token@bounces.example.com";
const COPY = `${RETURNED}\nThe mail itself.\n`;

type Form = {
  from: string;
  subject: string;
  text: string;
  head?: string;
  class: string;
  action?: "delayed";
  recipients?: string[];
};

const bytesOf = ({ from, subject, text, head = "" }: Pick<Form, "from" | "subject" | "text" | "head">) =>
  Buffer.from(
    `From: ${from}\nTo: <${RETURN_PATH}>\nSubject: ${subject}\nMessage-ID: <n1@mx.example.net>\n${head}\n${text}`.replace(
      /\n/g,
      "\r\n",
    ),
  );

const parts = (boundary: string, ...all: string[]) =>
  `${all.map((part) => `--${boundary}\n${part}\n`).join("")}--${boundary}--\n`;

/** What each server's own notice looks like, with texts of our own. */
const FORMS: Record<string, Form> = {
  "DragonFly Mail Agent": {
    from: "MAILER-DAEMON <>",
    subject: "Mail delivery failed",
    text: `This is the DragonFly Mail Agent v0.13 at mx.example.net.\n\nThere was an error delivering your mail to <ben@example.net>.\n\nmx.example.org [192.0.2.9] did not like our RCPT TO:\n552 5.2.2 <ben@example.net>: over quota\n\nMessage headers follow.\n\n${COPY}`,
    class: "quota",
  },
  "OpenSMTPD before 6": {
    from: "Mailer Daemon <MAILER-DAEMON@mx.example.net>",
    subject: "Delivery status notification: error",
    text: `    Hi!\n\n    This is the MAILER-DAEMON, please DO NOT REPLY to this e-mail.\n\n    An error has occurred while attempting to deliver a message for\n    the following list of recipients:\n\nben@example.net: 550 5.1.1 <ben@example.net>: no such user\ncy@example.net: 550 5.7.1 rejected as spam\n\n    Below is a copy of the original message:\n\n${COPY}`,
    class: "hard",
    recipients: ["ben@example.net", "cy@example.net"],
  },
  "Amazon WorkMail": {
    from: "MAILER-DAEMON@us-west-2.amazonses.com",
    subject: "Delivery Status Notification (Failure)",
    head: "Content-Type: multipart/mixed; boundary=b\n",
    text: parts(
      "b",
      "Content-Type: text/plain; charset=iso-8859-15\nContent-Transfer-Encoding: quoted-printable\n\nAn error occurred with these recip=\nients:\nben@example.net\n\nTechnical report:\n\nReporting-MTA: dsn; a27.smtp-out.example\nAction: failed\nFinal-Recipie=\nnt: rfc822; ben@example.net\nDiagnostic-Code: smtp; 550 5.1.1 user unknown\nStatus: 5.1.1",
      `Content-Type: message/rfc822\n\n${COPY}`,
    ),
    class: "hard",
  },
  "Amazon SES by email": {
    from: "Bounces <no-reply@sns.amazonaws.com>",
    subject: "AWS Notification Message",
    text: `${JSON.stringify({
      notificationType: "Bounce",
      bounce: {
        bounceType: "Permanent",
        bounceSubType: "General",
        bouncedRecipients: [
          {
            emailAddress: "ben@example.net",
            status: "5.1.1",
            diagnosticCode: "smtp; 550 5.1.1 user unknown",
          },
        ],
        timestamp: "2026-11-21T10:00:00.000Z",
        feedbackId: "f1",
      },
      mail: { messageId: "0100", destination: ["ben@example.net"] },
    })}\n\n--\nTo stop these notifications, visit the link below.\n`,
    class: "hard",
  },
  "old sendmail": {
    from: "Mail Delivery Subsystem <MAILER-DAEMON@mx.example.net>",
    subject: "Returned mail: Host unknown",
    text: `   ----- Transcript of session follows -----\n550 example.net (smtp)... 550 Host unknown\n554 <ben@example.net>... 550 Host unknown (Authoritative answer from name server)\n\n   ----- Unsent message follows -----\n${COPY}`,
    class: "hard",
  },
  ezweb: {
    from: "<Postmaster@ezweb.example>",
    subject: "Mail System Error - Returned Mail",
    text: `The user(s) account is temporarily over quota.\n\n<ben@example.net>\n\n---------------------------------\n${COPY}`,
    class: "quota",
  },
  "IMail and SMTP32": {
    from: '"Postmaster" <postmaster@mx.example.net>',
    subject: "Undeliverable Mail",
    text: `Unknown user: ben@example.net\n\nOriginal message follows.\n\n${COPY}`,
    class: "hard",
  },
  "Lotus Notes": {
    from: "postmaster@mx.example.net",
    subject: "Undeliverable message",
    text: `------- Failure Reasons  --------\n\nMailbox is full\nben@example.net\n\n------- Returned Message --------\n\n${COPY}`,
    class: "quota",
  },
  "mfilter, in ISO-2022-JP": {
    from: "POSTMASTER <postmaster@example.net>",
    subject: "failure notice",
    text: `\x1b$B$3$N%a!<%k$OAw?.$G$-$^$;$s$G$7$?!#\x1b(B\n\nben@example.net\n\n-------server message\n550 5.1.1 no such user\n\n-------original message\n${COPY}`,
    class: "hard",
  },
  "Google, with the reason only in the text": {
    from: "Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
    subject: "Delivery Status Notification (Failure)",
    head: "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n",
    text: parts(
      "b",
      "Content-Type: text/plain\n\n** Address not found **\n\nYour message wasn't delivered to ben@example.net because the domain example.net couldn't be found. Check for typos and try again.",
      "Content-Type: message/delivery-status\n\nReporting-MTA: dns; googlemail.com\n\nFinal-Recipient: rfc822; ben@example.net\nAction: failed\nStatus: 5.0.0",
      `Content-Type: message/rfc822\n\n${COPY}`,
    ),
    class: "hard",
  },
  "a report without Diagnostic-Code": {
    from: "postmaster@example.net",
    subject: "Undeliverable: Hello",
    head: "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n",
    text: parts(
      "b",
      "Content-Type: text/plain\n\nYour message did not reach ben@example.net.\n\nThe mailbox of the recipient is full.",
      "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.net\n\nFinal-Recipient: rfc822; ben@example.net\nAction: failure",
    ),
    class: "quota",
  },
  "a report that names no recipient": {
    from: "MAILER-DAEMON@mx.example.net",
    subject: "Undelivered Mail Returned to Sender",
    head: "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n",
    text: parts(
      "b",
      "Content-Type: text/plain\n\nYour message could not be delivered.\n\n--- Delivery report unavailable ---",
      "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.net",
      `Content-Type: message/rfc822\n\n${COPY}`,
    ),
    class: "other",
  },
  "a report without the header of its parts": {
    from: "Mail Delivery Subsystem <MAILER-DAEMON>",
    subject: "Returned mail: see transcript for details",
    text: `This is a MIME-encapsulated message\n\n${parts(
      "w595.1528/mx.example.net",
      "\nThe original message was received at Sat, 21 Nov 2026 10:00:00 GMT",
      "Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example.net\n\nFinal-Recipient: RFC822; ben@example.net\nAction: failed\nStatus: 5.1.1",
    )}`,
    class: "hard",
  },
  "a report inside that of a gateway": {
    from: "postmaster@example.net",
    subject: "Delivery Status Notification (Failure)",
    head: "Content-Type: multipart/mixed; boundary=b\n",
    text: parts(
      "b",
      `Content-Type: message/rfc822\n\nFrom: postmaster@inner.example\nContent-Type: multipart/report; boundary=c\n\n${parts(
        "c",
        "Content-Type: text/plain\n\nDelivery to ben@example.net failed.",
        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nFinal-Recipient: rfc822; ben@example.net\nAction: failed\nStatus: 5.1.1",
      )}`,
      "Content-Type: text/plain\n\nThis email is confidential.",
    ),
    class: "hard",
  },
  "a notice in HTML": {
    from: "MAILER-DAEMON@mx.example.net",
    subject: "failure notice",
    head: "Content-Type: text/html\n",
    text: "<html><head><style>p { color: red }</style></head><body><p>Your message could not be delivered to</p><b>ben@example.net</b><br>No such user here</body></html>",
    class: "hard",
  },
  "German postmaster": {
    from: "Mail Administrator <postmaster@example.net>",
    subject: "Unzustellbar: Hello",
    text: `Ihre Nachricht an ben@example.net konnte nicht zugestellt werden.\n\nDas Postfach existiert nicht.\n\n${COPY}`,
    class: "hard",
  },
  "Italian postmaster": {
    from: "postmaster@example.net",
    subject: "Mancato recapito",
    text: `Non è stato possibile recapitare il messaggio a ben@example.net: l'indirizzo non esiste.\n\n${COPY}`,
    class: "hard",
  },
  "French postmaster": {
    from: "postmaster@example.net",
    subject: "=?utf-8?q?=C3=89chec_de_la_remise?=",
    text: "Votre message n'a pas pu \u00eatre remis au destinataire suivant :\n\n  ben@example.net\n\nDestinataire inconnu\n",
    class: "hard",
  },
  "Russian mail system": {
    from: "Mail Delivery System <Mailer-Daemon@mx.example.net>",
    subject: "Mail failure",
    text: "Это письмо создано автоматически.\n\nВаше письмо не может быть доставлено:\n\n  ben@example.net\n    Пользователь не найден\n",
    class: "hard",
  },
  "Chinese mail system": {
    from: "postmaster@example.net",
    subject: "=?utf-8?b?57O757uf6YCA5L+h?=",
    text: "您的邮件被退回，无法投递到：\n\nben@example.net\n\n邮箱已满\n",
    class: "quota",
  },
  "the null sender, from an unusual address": {
    from: "Mail robot <robot@example.net>",
    subject: "Message not delivered",
    head: "Return-Path: <>\n",
    text: `The message to your recipient below was refused.\n\nben@example.net\n550 5.1.1 user unknown\n\n${COPY}`,
    class: "hard",
  },
  "a recipient that only the returned email names": {
    from: "postmaster@example.net",
    subject: "Mail could not be delivered",
    head: "Content-Type: multipart/mixed; boundary=b\n",
    text: parts(
      "b",
      "Content-Type: text/plain\n\nThe following mail could not be delivered. For help write to support@example.net.\nReason: the message is too large.",
      `Content-Type: message/rfc822\n\n${COPY}`,
    ),
    class: "size",
  },
  "a warning": {
    from: "postmaster@example.net",
    subject: "Warning: could not send message for past 4 hours",
    text: `This is a warning only. You do not need to send your message again.\n\nben@example.net\n451 4.3.0 try again later\n\n${COPY}`,
    class: "soft",
    action: "delayed",
  },
};

describe("a bounce in the form of", () => {
  test.each(Object.entries(FORMS))("%s names its recipient and its reason", (_, form) => {
    const report = parseReport(bytesOf(form));
    if (report?.kind !== "delivery") throw new Error(`a message of kind ${report?.kind}`);
    const { action = "failed", recipients = ["ben@example.net"] } = form;
    expect(report.reported.map((each) => [each.action, each.recipients[0]])).toEqual(
      recipients.map((address) => [action, address]),
    );
    expect(report.reported.map((each) => interpretReported(each).class)[0]).toBe(form.class);
  });
});

describe("an automatic reply", () => {
  const TEXT = "I am away. Your message will not be forwarded. If it is urgent, write to cy@example.net.\n";
  const REPLIES: [subject: string, head?: string][] = [
    ["Automatic reply: Hello"],
    ["Out of Office: Hello"],
    ["Automatische Antwort: Hello"],
    ["=?utf-8?q?R=C3=A9ponse_automatique_=3A_Hello?="],
    ["Respuesta autom\u00e1tica: Hello"],
    ["自動返信: Hello"],
    ["Re: Hello", "Auto-Submitted: auto-replied\n"],
    ["Re: Hello", "X-Autoreply: yes\n"],
    ["Re: Hello", "Precedence: bulk\n"],
    ["Re: Hello", "Return-Path: <>\n"],
    ["Undelivered: I am on holiday", "Auto-Submitted: auto-replied\nX-Vacation: yes\n"],
  ];

  test.each(REPLIES)("with the subject %j and %j is recognized", (subject, head) => {
    const bytes = bytesOf({ from: "Ben <ben@example.net>", subject, text: TEXT, ...(head && { head }) });
    expect(parseReport(bytes)?.kind).toBe("auto-reply");
  });

  test("of a postmaster is not a bounce", () => {
    const bytes = bytesOf({ from: "postmaster@example.net", subject: "Automatic reply: Hello", text: TEXT });
    expect(parseReport(bytes)?.kind).toBe("auto-reply");
  });

  test("is recognized by the null sender of its envelope", () => {
    const bytes = bytesOf({
      from: "Ben <ben@example.net>",
      subject: "Re: Hello",
      text: "Thanks, I will reply soon.\n",
    });
    expect(parseReport(bytes)).toEqual({ kind: "other" });
    expect(parseReport(bytes, true)?.kind).toBe("auto-reply");
  });
});

describe("no bounce and no automatic reply is", () => {
  test.each([
    [
      "a message that quotes a bounce",
      "Re: Undelivered Mail",
      `> Your message could not be delivered to\n> <ben@example.net>:\n> 550 5.1.1 user unknown\n\nWhat does that mean?\n`,
    ],
    [
      "a question about delivery",
      "Delivery problems",
      "We cannot deliver your order to this address. Please contact ben@example.net.\n",
    ],
    [
      "a person whose address begins like that of a mail system",
      "Hello",
      "I could not deliver your parcel to ben@example.net.\n",
      "",
      "mtaylor@example.net",
    ],
    [
      "an advertisement of a person who is called postmaster",
      "Spare parts",
      "Never send for a printer again. Write to shop@example.net.\n",
      "",
      '"Shop Postmaster" <info@example.net>',
    ],
    [
      "news of a postmaster",
      "Maintenance",
      "On Monday you may not receive email for an hour.\n",
      "",
      "postmaster@example.net",
    ],
    [
      "a message of a mailing list",
      "[list] delivery fails",
      "My mail to ben@example.net was not delivered.\n",
      "List-Id: <list.example.net>\nPrecedence: list\n",
    ],
  ])("%s", (_, subject, text, head = "", from = "Di <di@example.net>") => {
    expect(parseReport(bytesOf({ from, subject, text, head }))).toEqual({ kind: "other" });
  });
});
