/** What a refusal is about. Only `hard` speaks of an address that is dead. */
export const REPLY_CLASSES = [
  "hard",
  "disabled",
  "quota",
  "size",
  "rate",
  "greylist",
  "reputation",
  "auth",
  "content",
  "policy",
  "sender",
  "protocol",
  "soft",
  "login",
  "tls",
  "other",
] as const;
export type ReplyClass = (typeof REPLY_CLASSES)[number];

/** For people: what happened, to stand after "refused for good:" or "asks to try later:", and what would help, a sentence. */
export const MEANINGS: Readonly<Record<ReplyClass, { happened: string; helps: string }>> = {
  hard: {
    happened: "there is no such mailbox",
    helps: "Check the address with its owner, and take it off your lists if it is not right.",
  },
  disabled: {
    happened: "the mailbox is switched off",
    helps: "Its owner or host can open it again; ask them by another way.",
  },
  quota: {
    happened: "the mailbox is full",
    helps: "Its owner has to make room; a later mail may arrive.",
  },
  size: {
    happened: "the message is too large",
    helps: "Send less: smaller files, or links in their place.",
  },
  rate: {
    happened: "too much mail came at once",
    helps: "Send more slowly to this provider, and raise the volume over days.",
  },
  greylist: {
    happened: "the server makes an unknown sender wait a little",
    helps: "Nothing to do: the next attempt usually passes.",
  },
  reputation: {
    happened: "the sending server or domain has a poor reputation or stands on a block list",
    helps:
      "Look the address of the sending server and the domain up at the list named, mend the cause, then ask to be removed.",
  },
  auth: {
    happened: "the mail could not be proved to come from its domain",
    helps:
      "Check SPF, DKIM and DMARC of the sending domain, and that the sending server's address has a name that leads back to it.",
  },
  content: {
    happened: "the content or form of the message was not liked",
    helps:
      "Look for what resembles spam, forbidden files and doubtful links, and change it before sending again.",
  },
  policy: {
    happened: "a rule of the receiving side forbids it",
    helps: "Ask the recipient or their administrator to allow your sending domain.",
  },
  sender: {
    happened: "the sender's address is not accepted",
    helps: "Check that the sender's address exists, and that its domain has MX or A records.",
  },
  protocol: {
    happened: "the servers did not understand each other",
    helps: "Look at the dialogue of the attempt; the receiving server's administrator may need it.",
  },
  soft: {
    happened: "the receiving side has trouble of its own",
    helps: "Nothing to do at once: if it lasts, tell the receiving side.",
  },
  login: {
    happened: "the relay refuses our login",
    helps: "Correct the user name and password of the relay. The mail waits until then.",
  },
  tls: {
    happened: "the server demands encryption",
    helps: "Turn on TLS for this way out. The mail waits until then.",
  },
  other: {
    happened: "the server gave no reason that is known",
    helps: "Its own words are all there is; ask the recipient's administrator.",
  },
};
