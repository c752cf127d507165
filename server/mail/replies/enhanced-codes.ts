import type { Reply } from "../outcome";

/** Meaning of the first digit of an enhanced code (RFC 3463 section 2). */
const SEVERITIES: Readonly<Record<string, string>> = {
  "2": "Success",
  "4": "Temporary failure: a later attempt may succeed",
  "5": "Permanent failure: retrying will not help",
};

/**
 * Meaning of subject and detail of an enhanced code: RFC 3463 sections 3.1 to 3.8, and from the registry of
 * RFC 5248 the codes that servers use in practice (RFC 7372, RFC 7505, RFC 6531, RFC 4954).
 */
const CODES: Readonly<Record<string, string>> = {
  "0.0": "Unspecified status",
  "1.0": "Unspecified problem with the address",
  "1.1": "The mailbox does not exist",
  "1.2": "The domain does not exist or could not be resolved",
  "1.3": "The address has invalid syntax",
  "1.4": "The address is ambiguous",
  "1.5": "The address is valid",
  "1.6": "The mailbox has moved and has no forwarding address",
  "1.7": "The sender's address has invalid syntax",
  "1.8": "The sender's domain could not be resolved or does not accept replies",
  "1.9": "The message was relayed to a system that does not report delivery status",
  "1.10": "The domain does not accept email (null MX)",
  "2.0": "Unspecified problem with the mailbox",
  "2.1": "The mailbox is disabled",
  "2.2": "The mailbox is full",
  "2.3": "The message exceeds the size limit of the mailbox",
  "2.4": "The mailing list could not be expanded",
  "3.0": "Unspecified problem with the receiving mail system",
  "3.1": "The receiving mail system has no free storage",
  "3.2": "The receiving mail system does not accept messages at the moment",
  "3.3": "The receiving mail system does not support a requested feature",
  "3.4": "The message exceeds the size limit of the receiving mail system",
  "3.5": "The receiving mail system is misconfigured",
  "4.0": "Unspecified problem with the network or routing",
  "4.1": "The destination host does not respond",
  "4.2": "The connection was lost or is unreliable",
  "4.3": "The directory server, usually DNS, did not respond",
  "4.4": "There is no route to the destination",
  "4.5": "The receiving mail system is overloaded",
  "4.6": "The message is in a mail loop",
  "4.7": "The delivery time expired",
  "5.0": "Unspecified SMTP protocol problem",
  "5.1": "The command is unknown or out of sequence",
  "5.2": "The command has a syntax error",
  "5.3": "The message has too many recipients",
  "5.4": "A command argument is invalid",
  "5.5": "The servers use different protocol versions",
  "5.6": "An authentication command line is too long",
  "6.0": "Unspecified problem with the message content",
  "6.1": "The content type is not supported",
  "6.2": "The message would have to be converted, which is not allowed",
  "6.3": "The message would have to be converted, which is not supported",
  "6.4": "The message was converted with loss",
  "6.5": "The conversion of the message failed",
  "6.6": "The message content is not available",
  "6.7": "The address is not ASCII, and the server does not support such addresses",
  "6.8": "The reply would contain non-ASCII characters, which are not allowed",
  "6.9": "The header contains non-ASCII characters that cannot be relayed",
  "7.0": "Unspecified security or policy problem",
  "7.1":
    "The receiving server does not accept this message: the sender, the recipient or the content is not allowed",
  "7.2": "The sender is not allowed to post to this mailing list",
  "7.3": "The security settings would have to be converted, which is not possible",
  "7.4": "A requested security feature is not supported",
  "7.5": "A cryptographic operation failed",
  "7.6": "The encryption algorithm is not supported",
  "7.7": "The message was modified in transit, or its integrity check failed",
  "7.8": "The login was rejected: the user name or password is incorrect",
  "7.9": "The login method is too weak or not allowed",
  "7.10": "Encryption is required",
  "7.11": "This login method requires encryption",
  "7.12": "The password must be changed",
  "7.13": "The account is disabled",
  "7.14": "The two servers have no trust relationship",
  "7.15": "The priority of the message is too low",
  "7.16": "The message is too large for its priority",
  "7.17": "The mailbox has a new owner",
  "7.18": "The domain has a new owner",
  "7.19": "The server cannot verify that the mailbox still has the same owner",
  "7.20": "No DKIM signature is valid",
  "7.21": "No DKIM signature is acceptable",
  "7.22": "No DKIM signature belongs to the sender's domain",
  "7.23": "SPF does not allow this server to send for the domain",
  "7.24": "The SPF record could not be evaluated",
  "7.25": "The sending server's IP address has no valid reverse DNS",
  "7.26": "SPF, DKIM and DMARC checks failed for the sender's domain",
  "7.27": "The sender's domain does not accept email (null MX)",
  "7.28": "The server detected a mail flood",
  "7.29": "The ARC chain is invalid",
  "7.30": "The server does not support the required REQUIRETLS",
};

/** Codes that mean less with a 4: servers use 4.7.1 for greylisting, where nothing is forbidden. */
const TEMPORARY: Readonly<Record<string, string>> = {
  "7.1": "The receiving server does not accept this message now",
};

/**
 * Meaning of a basic code, for replies without an enhanced code (RFC 5321 section 4.2.3, RFC 7504, RFC 4954).
 */
const BASIC: Readonly<Record<number, string>> = {
  421: "The service is not available and closes the connection",
  432: "The password must be changed",
  450: "The mailbox is temporarily unavailable, or the server uses greylisting",
  451: "The server had a local error",
  452: "The server has no free storage, or accepts no more recipients in this transaction",
  454: "Authentication is temporarily unavailable",
  455: "The server cannot process a command argument at the moment",
  500: "The command has a syntax error",
  501: "A command argument has a syntax error",
  502: "The command is not implemented",
  503: "The command is out of sequence",
  504: "A command argument is not implemented",
  521: "The host does not accept email",
  530: "Authentication or encryption is required",
  534: "The login method is too weak",
  535: "The login was rejected: the user name or password is incorrect",
  538: "This login method requires encryption",
  541: "The receiving server rejected the message by policy",
  550: "The mailbox is unavailable: it does not exist, or a policy forbids access",
  551: "The recipient is not local to this server",
  552: "The mailbox or the message is too large",
  553: "The address has invalid syntax or is not allowed",
  554: "The server rejected the message without a specific reason",
  555: "A sender or recipient parameter is not supported",
  556: "The domain does not accept email",
};

/**
 * Explains a code in two sentences: the cause, and whether the failure is temporary or permanent. An unknown
 * detail is explained by its subject. Null for an unknown code.
 */
export function explainCode({ code, enhanced }: Pick<Reply, "code" | "enhanced">): string | null {
  const [digit = "", subject = "", detail = ""] = enhanced?.split(".") ?? [];
  const name = `${subject}.${detail}`;
  const temporary = digit === "4" ? TEMPORARY[name] : undefined;
  const meaning = temporary ?? CODES[name] ?? (enhanced === null ? undefined : CODES[`${subject}.0`]);
  const severity = SEVERITIES[digit];
  if (meaning !== undefined && severity !== undefined) return `${meaning}. ${severity}.`;
  const basic = code === null ? undefined : BASIC[code];
  if (basic === undefined) return null;
  return `${basic}. ${SEVERITIES[String(code).slice(0, 1)] ?? ""}.`;
}
