/**
 * Why a server rejected or deferred an email, and the texts of each class. Only `hard` means that the address
 * does not exist. `summary` continues "rejected the email permanently:" or "rejected the email temporarily:";
 * `advice` is one or more sentences.
 */
export const MEANINGS = {
  hard: {
    summary: "the mailbox does not exist",
    advice: "Check the address with the recipient, or remove it from your lists.",
  },
  disabled: {
    summary: "the mailbox is disabled",
    advice:
      "Contact the recipient through another channel. Only they or their provider can enable the mailbox.",
  },
  quota: {
    summary: "the mailbox is full",
    advice: "The recipient must free up space. Try again later.",
  },
  size: {
    summary: "the message is too large",
    advice: "Reduce the size of the message: use smaller attachments, or links to the files.",
  },
  rate: {
    summary: "too many messages were sent in a short time",
    advice: "Lower the sending rate to this provider and increase the volume over several days.",
  },
  greylist: {
    summary: "the server temporarily rejects unknown senders (greylisting)",
    advice: "No action is needed: the next attempt usually succeeds.",
  },
  reputation: {
    summary: "the sending server or domain has a poor reputation or is on a block list",
    advice:
      "Check the sending server's IP address and the domain on the block list that the reply names. Fix the cause, then request removal.",
  },
  auth: {
    summary: "email authentication failed",
    advice:
      "Check SPF, DKIM and DMARC of the sending domain, and the reverse DNS (PTR) record of the sending server.",
  },
  content: {
    summary: "the content or format of the message was rejected",
    advice:
      "Check the message for spam-like wording, forbidden attachment types and suspicious links. Change it before you send it again.",
  },
  policy: {
    summary: "blocked by the policy of the receiving server",
    advice: "Ask the recipient or their administrator to allow your sending domain.",
  },
  sender: {
    summary: "the sender's address was rejected",
    advice: "Check that the sender's address exists and that its domain has MX or A records.",
  },
  protocol: {
    summary: "the servers had an SMTP protocol error",
    advice:
      "Check the SMTP transcript of the attempt and share it with the receiving server's administrator.",
  },
  soft: {
    summary: "the receiving server has a temporary problem",
    advice: "No action is needed now. If the problem persists, contact the receiving server's administrator.",
  },
  login: {
    summary: "the relay rejected the login",
    advice: "Correct the user name and password of the relay. Email stays queued until then.",
  },
  tls: {
    summary: "the server requires encryption",
    advice: "Turn on TLS for this relay. Email stays queued until then.",
  },
  other: {
    summary: "the server gave no recognized reason",
    advice: "Read the server's reply, and ask the recipient's administrator if it is unclear.",
  },
} as const satisfies Record<string, { summary: string; advice: string }>;

export type ReplyClass = keyof typeof MEANINGS;
export const REPLY_CLASSES = Object.keys(MEANINGS) as ReplyClass[];
