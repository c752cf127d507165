import type { ReplyClass } from "#server/shared/reply-classes";

/**
 * What a code means; null if its subject explains it. And the class of a reply with it, if it has only one.
 */
type Code = readonly [meaning: string | null, replyClass?: ReplyClass];

/** The additional codes of Microsoft and Google, as they document them. */
function ofProviders(codes: Partial<Record<ReplyClass, string>>): Record<string, Code> {
  const rows = Object.entries(codes).flatMap(([replyClass, details]) =>
    details.split(" ").map((detail) => [detail, [null, replyClass as ReplyClass]] as const),
  );
  return Object.fromEntries(rows);
}

/**
 * Enhanced codes by subject and detail: RFC 3463 sections 3.1 to 3.8, from the registry of RFC 5248 those
 * that servers use in practice (RFC 7372, RFC 7505, RFC 6531, RFC 4954), and the additional codes of
 * Microsoft and Google. Codes that servers use for many reasons, such as X.1.0, X.7.0 and X.7.1, have no
 * class.
 */
export const ENHANCED_CODES: Readonly<Record<string, Code>> = {
  ...ofProviders({
    hard: "1.351 4.310",
    rate: "1.90 2.121 2.122 7.508 7.232 7.233 7.705",
    auth: "7.40 7.509 7.515 7.31 7.32",
    reputation: "7.501 7.502 7.503 7.511 7.513 7.606 7.650 7.703 7.708",
    policy: "7.57 7.64 7.124 7.133 7.134 7.135 7.136 7.137 7.505 7.506 7.507 7.510 7.750 7.193",
    sender: "7.60 7.68",
    content: "6.11 7.512",
    tls: "4.317 7.321 7.322 7.323 7.324 7.325 7.326",
    soft: "7.700 2.14 4.11 4.14 4.300 4.312 4.316 0.350",
  }),
  "0.0": ["Unspecified status"],
  "1.0": ["Unspecified problem with the address"],
  "1.1": ["The mailbox does not exist", "hard"],
  "1.2": ["The domain does not exist or could not be resolved", "hard"],
  "1.3": ["The address has invalid syntax", "hard"],
  "1.4": ["The address is ambiguous", "hard"],
  "1.5": ["The address is valid"],
  "1.6": ["The mailbox has moved and has no forwarding address", "hard"],
  "1.7": ["The sender's address has invalid syntax", "sender"],
  "1.8": ["The sender's domain could not be resolved or does not accept replies", "sender"],
  "1.9": ["The message was relayed to a system that does not report delivery status"],
  "1.10": ["The domain does not accept email (null MX)", "hard"],
  "2.0": ["Unspecified problem with the mailbox"],
  "2.1": ["The mailbox is disabled", "hard"],
  "2.2": ["The mailbox is full", "quota"],
  "2.3": ["The message exceeds the size limit of the mailbox", "size"],
  "2.4": ["The mailing list could not be expanded"],
  "3.0": ["Unspecified problem with the receiving mail system"],
  "3.1": ["The receiving mail system has no free storage"],
  "3.2": ["The receiving mail system does not accept messages at the moment"],
  "3.3": ["The receiving mail system does not support a requested feature"],
  "3.4": ["The message exceeds the size limit of the receiving mail system", "size"],
  "3.5": ["The receiving mail system is misconfigured"],
  "4.0": ["Unspecified problem with the network or routing"],
  "4.1": ["The destination host does not respond"],
  "4.2": ["The connection was lost or is unreliable"],
  "4.3": ["The directory server, usually DNS, did not respond"],
  "4.4": ["There is no route to the destination"],
  "4.5": ["The receiving mail system is overloaded"],
  "4.6": ["The message is in a mail loop"],
  "4.7": ["The delivery time expired"],
  "5.0": ["Unspecified SMTP protocol problem"],
  "5.1": ["The command is unknown or out of sequence", "protocol"],
  "5.2": ["The command has a syntax error", "protocol"],
  "5.3": ["The message has too many recipients", "rate"],
  "5.4": ["A command argument is invalid", "protocol"],
  "5.5": ["The servers use different protocol versions"],
  "5.6": ["An authentication command line is too long"],
  "6.0": ["Unspecified problem with the message content", "content"],
  "6.1": ["The content type is not supported", "content"],
  "6.2": ["The message would have to be converted, which is not allowed"],
  "6.3": ["The message would have to be converted, which is not supported"],
  "6.4": ["The message was converted with loss"],
  "6.5": ["The conversion of the message failed"],
  "6.6": ["The message content is not available"],
  "6.7": ["The address is not ASCII, and the server does not support such addresses", "protocol"],
  "6.8": ["The reply would contain non-ASCII characters, which are not allowed", "protocol"],
  "6.9": ["The header contains non-ASCII characters that cannot be relayed", "protocol"],
  "7.0": ["Unspecified security or policy problem"],
  "7.1": [
    "The receiving server does not accept this message: the sender, the recipient or the content is not allowed",
  ],
  "7.2": ["The sender is not allowed to post to this mailing list"],
  "7.3": ["The security settings would have to be converted, which is not possible"],
  "7.4": ["A requested security feature is not supported"],
  "7.5": ["A cryptographic operation failed"],
  "7.6": ["The encryption algorithm is not supported"],
  "7.7": ["The message was modified in transit, or its integrity check failed", "content"],
  "7.8": ["The login was rejected: the user name or password is incorrect"],
  "7.9": ["The login method is too weak or not allowed"],
  "7.10": ["Encryption is required"],
  "7.11": ["This login method requires encryption"],
  "7.12": ["The password must be changed"],
  "7.13": ["The account is disabled", "hard"],
  "7.14": ["The two servers have no trust relationship"],
  "7.15": ["The priority of the message is too low"],
  "7.16": ["The message is too large for its priority"],
  "7.17": ["The mailbox has a new owner", "hard"],
  "7.18": ["The domain has a new owner", "hard"],
  "7.19": ["The server cannot verify that the mailbox still has the same owner"],
  "7.20": ["No DKIM signature is valid", "auth"],
  "7.21": ["No DKIM signature is acceptable", "auth"],
  "7.22": ["No DKIM signature belongs to the sender's domain", "auth"],
  "7.23": ["SPF does not allow this server to send for the domain", "auth"],
  "7.24": ["The SPF record could not be evaluated", "auth"],
  "7.25": ["The sending server's IP address has no valid reverse DNS", "auth"],
  "7.26": ["SPF, DKIM and DMARC checks failed for the sender's domain", "auth"],
  "7.27": ["The sender's domain does not accept email (null MX)", "sender"],
  "7.28": ["The server detected a mail flood", "rate"],
  "7.29": ["The ARC chain is invalid"],
  "7.30": ["The server does not support the required REQUIRETLS"],
};

/**
 * Codes of an address that will never accept email: no such mailbox, no such domain, invalid address, moved
 * without a forwarding address, null MX (RFC 7505), mailbox disabled; and that of OpenSMTPD for an address
 * that expands to no mailbox. Other failures can be resolved by the sender, by the host or with time: a full
 * mailbox, policy (5.7.x), systems and routing (5.3.x, 5.4.x).
 */
export const DEAD_CODES: ReadonlySet<string> = new Set([
  "5.1.1",
  "5.1.2",
  "5.1.3",
  "5.1.6",
  "5.1.10",
  "5.2.1",
  "524 5.2.4",
]);

/**
 * Basic codes, for replies without an enhanced code (RFC 5321 section 4.2.3, RFC 7504, RFC 4954). Without a
 * class, a temporary rejection is `soft` and a permanent one `other`.
 */
export const BASIC_CODES: Readonly<Record<number, Code>> = {
  421: ["The service is not available and closes the connection"],
  432: ["The password must be changed"],
  450: ["The mailbox is temporarily unavailable, or the server uses greylisting"],
  451: ["The server had a local error"],
  452: ["The server has no free storage, or accepts no more recipients in this transaction"],
  454: ["Authentication is temporarily unavailable"],
  455: ["The server cannot process a command argument at the moment"],
  500: ["The command has a syntax error", "protocol"],
  501: ["A command argument has a syntax error", "protocol"],
  502: ["The command is not implemented", "protocol"],
  503: ["The command is out of sequence", "protocol"],
  504: ["A command argument is not implemented", "protocol"],
  521: ["The host does not accept email", "hard"],
  530: ["Authentication or encryption is required"],
  534: ["The login method is too weak"],
  535: ["The login was rejected: the user name or password is incorrect"],
  538: ["This login method requires encryption"],
  541: ["The receiving server rejected the message by policy"],
  550: ["The mailbox is unavailable: it does not exist, or a policy forbids access"],
  551: ["The recipient is not local to this server", "hard"],
  552: ["The mailbox or the message is too large", "quota"],
  553: ["The address has invalid syntax or is not allowed"],
  554: ["The server rejected the message without a specific reason"],
  555: ["A sender or recipient parameter is not supported", "protocol"],
  556: ["The domain does not accept email", "hard"],
};
