/**
 * The words with which SES names the cause of a bounce, and Resend after it, by the enhanced code that says the same
 * (RFC 3463). Others of its words leave open what they mean: `General` is any cause.
 */
export const CODE_OF_SUBTYPE: Readonly<Record<string, string>> = {
  NoEmail: "5.1.1",
  MailboxFull: "5.2.2",
  MessageTooLarge: "5.2.3",
};

/** With these nobody was asked: the address stands on a list of the provider's, for a reason that it does not tell. */
export const LISTED_SUBTYPES: ReadonlySet<string> = new Set(["Suppressed", "OnAccountSuppressionList"]);
