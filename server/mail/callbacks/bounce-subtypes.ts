/**
 * Enhanced code (RFC 3463) for each bounce subtype of SES that names a specific cause. Resend uses the same subtypes.
 * Other subtypes, such as `General`, do not name a cause.
 */
export const ENHANCED_CODE_BY_SUBTYPE: Readonly<Record<string, string>> = {
  NoEmail: "5.1.1",
  MailboxFull: "5.2.2",
  MessageTooLarge: "5.2.3",
};

/** With these subtypes no server was contacted: the address is on the provider's suppression list, with no reason given. */
export const SUPPRESSED_SUBTYPES: ReadonlySet<string> = new Set(["Suppressed", "OnAccountSuppressionList"]);
