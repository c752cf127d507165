import { sql } from "drizzle-orm";
import { check, index, pgTable, primaryKey, uniqueIndex } from "drizzle-orm/pg-core";
import { bytea, instant, now } from "../columns";
import { ofUser, users } from "./teams";

/** An authenticator app (RFC 6238), one per user. It is active after its first code was verified. */
export const totpFactors = pgTable("totp_factors", (c) => ({
  userId: ofUser().primaryKey(),
  /** Encrypted by the vault. */
  secret: c.text().notNull(),
  confirmedAt: instant(),
  /** The time step of the last accepted code. This code and earlier ones are rejected. */
  lastStep: c.bigint({ mode: "number" }).notNull().default(0),
  createdAt: now(),
}));

/** Recovery codes for users whose other means of 2FA are lost. Each works once. */
export const recoveryCodes = pgTable(
  "recovery_codes",
  (c) => ({
    id: c.uuid().primaryKey(),
    userId: ofUser(),
    /** SHA-256. 80 random bits do not need a slow hash. */
    codeHash: bytea().notNull(),
    usedAt: instant(),
    createdAt: now(),
  }),
  (t) => [index("recovery_codes_user_idx").on(t.userId)],
);

/** A discoverable WebAuthn credential with user verification. Usable for sign-in and for 2FA. */
export const passkeys = pgTable(
  "passkeys",
  (c) => ({
    id: c.uuid().primaryKey(),
    userId: ofUser(),
    /** base64url; chosen by the authenticator. */
    credentialId: c.text().notNull(),
    /** COSE format. */
    publicKey: bytea().notNull(),
    /** The authenticator's signature counter; 0 if it does not count. */
    counter: c.bigint({ mode: "number" }).notNull(),
    transports: c.text().array().notNull().default([]),
    /** Whether it can be synced to several devices through a cloud account. */
    isSynced: c.boolean().notNull(),
    name: c.text().notNull(),
    createdAt: now(),
    lastUsedAt: instant(),
  }),
  (t) => [uniqueIndex("passkeys_credential_key").on(t.credentialId), index("passkeys_user_idx").on(t.userId)],
);

/** `used`: the challenge of a sign-in, which is stored once it was used. */
export type PasskeyPurpose = "register" | "second_step" | "used";

/** WebAuthn challenges. Reading one of a known user deletes it. */
export const passkeyChallenges = pgTable("passkey_challenges", (c) => ({
  /** base64url. */
  challenge: c.text().primaryKey(),
  purpose: c.text().$type<PasskeyPurpose>().notNull(),
  /** Null for a used challenge. */
  userId: c.uuid().references(() => users.id, { onDelete: "cascade" }),
  expiresAt: instant().notNull(),
}));

/** The methods of the first sign-in step. */
export type SignInMethod = "password" | "link" | "passkey" | SignInProvider;

/** A sign-in that has completed the first step and still requires 2FA. It is not a session. */
export const twoFactorChallenges = pgTable("second_steps", (c) => ({
  /** SHA-256 of the token in the browser. */
  tokenHash: bytea().primaryKey(),
  userId: ofUser(),
  method: c.text("way").$type<SignInMethod>().notNull(),
  attempts: c.integer("tries").notNull().default(0),
  expiresAt: instant().notNull(),
}));

export const SIGN_IN_PROVIDERS = ["github", "google", "oidc"] as const;
export type SignInProvider = (typeof SIGN_IN_PROVIDERS)[number];

/**
 * Linked accounts of sign-in providers. The provider's account id identifies the account, even if its address
 * changes.
 */
export const accounts = pgTable(
  "accounts",
  (c) => ({
    provider: c.text({ enum: SIGN_IN_PROVIDERS }).notNull(),
    providerAccountId: c.text().notNull(),
    userId: ofUser(),
    /** The verified address at the time of linking. */
    email: c.text().notNull(),
    createdAt: now(),
    lastUsedAt: now(),
  }),
  (t) => [
    primaryKey({ columns: [t.provider, t.providerAccountId] }),
    // At most one account per provider and user, so that a list of accounts does not need names.
    uniqueIndex("accounts_user_provider_key").on(t.userId, t.provider),
  ],
);

/** Security events of a user's account, shown to the user. Retained for 90 days. */
export const accountEvents = pgTable(
  "account_events",
  (c) => ({
    /** UUIDv7: sorts by time. */
    id: c.uuid().primaryKey(),
    userId: ofUser(),
    kind: c.text().notNull(),
    /** The target or method as text: a passkey's name, a provider. */
    subject: c.text(),
    address: c.text(),
    userAgent: c.text(),
    createdAt: now(),
  }),
  (t) => [
    index("account_events_user_idx").on(t.userId, t.id),
    index("account_events_age_idx").on(t.createdAt),
  ],
);

export type TokenPurpose = "sign_in_link" | "password_reset" | "first_user";

/** One-time tokens: of a link that was emailed or shown, or the code for the first user. */
export const signInTokens = pgTable(
  "sign_in_tokens",
  (c) => ({
    id: c.uuid().primaryKey(),
    purpose: c.text().$type<TokenPurpose>().notNull(),
    /** The user of the token; null for the first user, who does not exist yet. */
    userId: c.uuid().references(() => users.id, { onDelete: "cascade" }),
    /** SHA-256 of the token in the link or of the code, which is not stored. */
    secretHash: bytea().notNull(),
    /** Whether the token was sent only to the user's mailbox. */
    isMailed: c.boolean().notNull().default(false),
    createdAt: now(),
    expiresAt: instant().notNull(),
    spentAt: instant(),
  }),
  (t) => [
    uniqueIndex("sign_in_tokens_secret_key").on(t.secretHash),
    index("sign_in_tokens_user_idx").on(t.userId),
    check("sign_in_tokens_user", sql`(${t.userId} is null) = (${t.purpose} = 'first_user')`),
  ],
);

/**
 * Sign-in attempts by limiter key: an address, an account, a known browser. Rows are deleted minutes after
 * their last use.
 */
export const signInCounters = pgTable(
  "sign_in_counters",
  (c) => ({
    /** SHA-256 of the counter's name. The name can contain an address, and its length is user input. */
    counter: bytea().primaryKey(),
    /** The minute of `count` since the epoch. `previous` is the count of the minute before. */
    minute: c.bigint({ mode: "number" }).notNull(),
    count: c.integer().notNull(),
    previous: c.integer().notNull(),
  }),
  (t) => [index("sign_in_counters_minute_idx").on(t.minute)],
);

export type SystemMailKind =
  | "sign_in_link"
  | "password_reset"
  | "new_device"
  | "address_confirmation"
  | "address_changed"
  | "invitation"
  | "alert"
  | "team_deletion";

/** `dropped`: not sent, because no user has that address, or the user may no longer read it. */
export const SYSTEM_MAIL_STATUSES = ["queued", "sending", "sent", "failed", "dropped"] as const;

/**
 * System emails, such as sign-in links. They are not in `emails`, because they belong to no team and do not
 * appear in lists, events or webhooks. Only `details` of the content is stored, encrypted, until the email is
 * sent or has failed.
 */
export const systemMails = pgTable(
  "system_mails",
  (c) => ({
    id: c.uuid().primaryKey(),
    kind: c.text().$type<SystemMailKind>().notNull(),
    /** In lower case. Whether a user has that address is checked when the email is sent. */
    recipient: c.text().notNull(),
    /** The data of its text, encrypted; null once it is no longer needed. */
    details: c.text(),
    status: c.text({ enum: SYSTEM_MAIL_STATUSES }).notNull().default("queued"),
    attempts: c.integer().notNull().default(0),
    /** When the lease of the sending worker expires and another worker may claim the email. */
    dueAt: now(),
    leaseToken: c.uuid(),
    /** After this time the email is no longer useful and is not sent. */
    expiresAt: instant().notNull(),
    /** The last server reply or error. */
    lastReply: c.text(),
    messageId: c.text().notNull(),
    createdAt: now(),
    endedAt: instant(),
  }),
  (t) => [
    index("system_mails_due_idx").on(t.dueAt).where(sql`${t.status} in ('queued', 'sending')`),
    index("system_mails_recipient_idx").on(t.recipient),
  ],
);
