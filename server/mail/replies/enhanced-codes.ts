/** What the first digit of an enhanced code says (RFC 3463 section 2). */
const WEIGHTS: Readonly<Record<string, string>> = {
  "2": "Done",
  "4": "For now, a later attempt may succeed",
  "5": "For good, the same attempt would fail again",
};

/**
 * What subject and detail of an enhanced code say, in words: RFC 3463 sections 3.1 to 3.8, and of the registry that
 * RFC 5248 keeps what mail servers really answer with (RFC 7372, RFC 7505, RFC 6531, RFC 4954).
 */
const CODES: Readonly<Record<string, string>> = {
  "0.0": "No more than that is said",
  "1.0": "Something about the address",
  "1.1": "There is no such mailbox",
  "1.2": "There is no such mail domain, or it cannot be found just now",
  "1.3": "The address is not written as addresses are there",
  "1.4": "The address means several mailboxes and none of them for sure",
  "1.5": "The address is good",
  "1.6": "The mailbox has moved and left no new address",
  "1.7": "The sender's address is not written as it must be",
  "1.8": "The domain of the sender cannot be found, or takes no answers",
  "1.9": "The message was handed to a system that tells nothing more",
  "1.10": "The domain says that it takes no mail at all",
  "2.0": "Something about the mailbox",
  "2.1": "The mailbox is switched off",
  "2.2": "The mailbox is full",
  "2.3": "The message is longer than this mailbox takes",
  "2.4": "The mailing list behind the address cannot be opened",
  "3.0": "Something about the receiving mail system",
  "3.1": "The receiving mail system has no room left",
  "3.2": "The receiving mail system takes no mail at the moment",
  "3.3": "The receiving mail system cannot do what the message asks for",
  "3.4": "The message is larger than the receiving mail system takes",
  "3.5": "The receiving mail system is not set up right",
  "4.0": "Something about the network or the way there",
  "4.1": "Nothing answers at the other end",
  "4.2": "The connection broke off or was too bad",
  "4.3": "The server that knows the way, usually DNS, gave no answer",
  "4.4": "No way to the recipient's server is known",
  "4.5": "The receiving side has more mail than it can take",
  "4.6": "The message goes round in a circle",
  "4.7": "The message was not delivered in the time it had",
  "5.0": "Something about the dialogue of the servers",
  "5.1": "The command was not in its place, or is not known",
  "5.2": "The server did not understand the command",
  "5.3": "Too many recipients for one message",
  "5.4": "A part of the command was not right",
  "5.5": "The servers speak different versions",
  "5.6": "The login took too many letters",
  "6.0": "Something about what the message holds",
  "6.1": "The receiving side does not take this kind of content",
  "6.2": "The message would have to be converted, and that is not allowed",
  "6.3": "The message would have to be converted, and that cannot be done",
  "6.4": "The message was converted, and lost something",
  "6.5": "Converting the message failed",
  "6.6": "The message's content cannot be had",
  "6.7": "The address has letters beyond ASCII, which the server does not take",
  "6.8": "The reply has letters beyond ASCII, which are not allowed here",
  "6.9": "The header has letters beyond ASCII that could not be passed on",
  "7.0": "A rule of the receiving side, with no more said",
  "7.1": "The receiving side does not take this mail: of this sender, for this recipient, or of this content",
  "7.2": "The sender may not write to this mailing list",
  "7.3": "Security would have to be changed on the way, which cannot be done",
  "7.4": "The security that was asked for is not to be had there",
  "7.5": "A key needed for it failed",
  "7.6": "The method of encryption is not supported",
  "7.7": "The message was damaged on its way, or a check says so",
  "7.8": "The login was refused: user name or password are wrong",
  "7.9": "The way of logging in is too weak, or not allowed",
  "7.10": "Encryption is needed",
  "7.11": "This login needs encryption",
  "7.12": "The password has to be changed",
  "7.13": "The account is switched off",
  "7.14": "The two servers have no trust relation",
  "7.15": "The priority is too low to be taken now",
  "7.16": "The message is too big for its priority",
  "7.17": "The mailbox has another owner by now",
  "7.18": "The domain has another owner by now",
  "7.19": "Whether the mailbox still has its owner cannot be checked",
  "7.20": "No DKIM signature passed",
  "7.21": "No DKIM signature was acceptable",
  "7.22": "No DKIM signature is of the sender's domain",
  "7.23": "SPF says that this server may not send for the domain",
  "7.24": "The SPF record could not be evaluated",
  "7.25": "The sending server's address has no name that leads back to it",
  "7.26": "Neither SPF nor DKIM nor DMARC proves the sender's domain",
  "7.27": "The sender's domain says that it takes no mail",
  "7.28": "The message is one of a flood",
  "7.29": "The chain of seals that forwarders set (ARC) is broken",
  "7.30": "The required REQUIRETLS cannot be kept",
};

/** What a reply without an enhanced code says by its basic one (RFC 5321 section 4.2.3, RFC 7504, RFC 4954). */
const BASIC: Readonly<Record<number, string>> = {
  421: "The server cannot talk just now and closes the connection",
  432: "The password has to be changed",
  450: "The mailbox cannot be reached just now, or an unknown sender is made to wait",
  451: "The server met a fault of its own",
  452: "The server has no room left, or takes no more recipients at once",
  454: "The login cannot be checked just now",
  455: "A part of the command cannot be served just now",
  500: "The server did not understand the command",
  501: "A part of the command was not right",
  502: "The server does not have the command",
  503: "The command was not in its place",
  504: "A part of the command is not supported",
  521: "The host takes no mail at all",
  530: "A login, or encryption, comes first",
  534: "The way of logging in is too weak",
  535: "The login was refused: user name or password are wrong",
  538: "This login needs encryption",
  541: "The receiving side refused the message by a rule",
  550: "The mailbox cannot be had: there is none, or a rule forbids it",
  551: "The recipient is not here",
  552: "The mailbox or the message is too large",
  553: "The address is not written as it must be, or not allowed",
  554: "The message was refused with no more said",
  555: "A part of the sender's or the recipient's line is not known there",
  556: "The domain takes no mail",
};

/**
 * A code in words, as a sentence: what happened, and whether for now or for good. Null for what no code is known of; its
 * detail unknown, the subject alone speaks.
 */
export function sayCode({ code, enhanced }: { code: number | null; enhanced: string | null }): string | null {
  const [weight = "", subject = "", detail = ""] = enhanced?.split(".") ?? [];
  const said = CODES[`${subject}.${detail}`] ?? (enhanced === null ? undefined : CODES[`${subject}.0`]);
  const weighed = WEIGHTS[weight];
  if (said !== undefined && weighed !== undefined) return `${said}. ${weighed}.`;
  const plain = code === null ? undefined : BASIC[code];
  if (plain === undefined) return null;
  return `${plain}. ${WEIGHTS[String(code).slice(0, 1)] ?? ""}.`;
}
