import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { bytea } from "../columns";
import { users } from "./teams";

const ofUser = () =>
  uuid()
    .notNull()
    .references(() => users.id, { onDelete: "cascade" });
const now = () => timestamp({ withTimezone: true }).notNull().defaultNow();

/** An authenticator app (RFC 6238), one per user. It is active after its first code was verified. */
export const totpFactors = pgTable("totp_factors", {
  userId: uuid()
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  /** Encrypted by the vault. */
  secret: text().notNull(),
  confirmedAt: timestamp({ withTimezone: true }),
  /** The time step of the last accepted code. This code and earlier ones are rejected. */
  lastStep: bigint({ mode: "number" }).notNull().default(0),
  createdAt: now(),
});

/** Recovery codes for users without another second factor. Each works once. */
export const recoveryCodes = pgTable(
  "recovery_codes",
  {
    id: uuid().primaryKey(),
    userId: ofUser(),
    /** SHA-256. 80 random bits do not need a slow hash. */
    codeHash: bytea().notNull(),
    usedAt: timestamp({ withTimezone: true }),
    createdAt: now(),
  },
  (t) => [index("recovery_codes_user_idx").on(t.userId)],
);

/** A discoverable WebAuthn credential with user verification. Usable for sign-in and as a second factor. */
export const passkeys = pgTable(
  "passkeys",
  {
    id: uuid().primaryKey(),
    userId: ofUser(),
    /** base64url; chosen by the authenticator. */
    credentialId: text().notNull(),
    /** COSE format. */
    publicKey: bytea().notNull(),
    /** The authenticator's signature counter; 0 if it does not count. */
    counter: bigint({ mode: "number" }).notNull(),
    transports: text().array().notNull().default([]),
    /** Whether it can be synced to several devices through a cloud account. */
    isSynced: boolean().notNull(),
    name: text().notNull(),
    createdAt: now(),
    lastUsedAt: timestamp({ withTimezone: true }),
  },
  (t) => [uniqueIndex("passkeys_credential_key").on(t.credentialId), index("passkeys_user_idx").on(t.userId)],
);

export const PASSKEY_PURPOSES = ["register", "sign_in", "second_step"] as const;
export type PasskeyPurpose = (typeof PASSKEY_PURPOSES)[number];

/** WebAuthn challenges. Reading a challenge deletes it. */
export const passkeyChallenges = pgTable("passkey_challenges", {
  /** base64url of 32 random bytes. */
  challenge: text().primaryKey(),
  purpose: text({ enum: PASSKEY_PURPOSES }).notNull(),
  /** Null if the passkey of any user is accepted. */
  userId: uuid().references(() => users.id, { onDelete: "cascade" }),
  expiresAt: timestamp({ withTimezone: true }).notNull(),
});

/** The methods of the first sign-in step. */
export const SIGN_IN_METHODS = ["password", "link", "passkey", "github", "google"] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** A sign-in that has completed the first step and still requires the second factor. It is not a session. */
export const twoFactorChallenges = pgTable("second_steps", {
  /** SHA-256 of the token in the browser. */
  tokenHash: bytea().primaryKey(),
  userId: ofUser(),
  method: text("way", { enum: SIGN_IN_METHODS }).notNull(),
  attempts: integer("tries").notNull().default(0),
  expiresAt: timestamp({ withTimezone: true }).notNull(),
});

export const SIGN_IN_PROVIDERS = ["github", "google"] as const;
export type SignInProvider = (typeof SIGN_IN_PROVIDERS)[number];

/** Linked accounts of sign-in providers. The provider's account id identifies the account, even if its address changes. */
export const accounts = pgTable(
  "accounts",
  {
    provider: text({ enum: SIGN_IN_PROVIDERS }).notNull(),
    providerAccountId: text().notNull(),
    userId: ofUser(),
    /** The verified address at the time of linking. */
    email: text().notNull(),
    createdAt: now(),
    lastUsedAt: now(),
  },
  (t) => [
    primaryKey({ columns: [t.provider, t.providerAccountId] }),
    // At most one account per provider and user, so that a list of accounts does not need names.
    uniqueIndex("accounts_user_provider_key").on(t.userId, t.provider),
  ],
);

/** Security events of a user's account, shown to the user. Retained for 90 days. */
export const accountEvents = pgTable(
  "account_events",
  {
    /** UUIDv7: sorts by time. */
    id: uuid().primaryKey(),
    userId: ofUser(),
    kind: text().notNull(),
    /** The target or method as text: a passkey's name, a provider. */
    subject: text(),
    address: text(),
    userAgent: text(),
    createdAt: timestamp({ withTimezone: true }).notNull().default(sql`now()`),
  },
  (t) => [
    index("account_events_user_idx").on(t.userId, t.id),
    index("account_events_age_idx").on(t.createdAt),
  ],
);

export const TOKEN_PURPOSES = ["sign_in_link", "password_reset", "first_user"] as const;
export type TokenPurpose = (typeof TOKEN_PURPOSES)[number];

/** One-time tokens: of a link that was emailed or shown, or the code for the first user. */
export const signInTokens = pgTable(
  "sign_in_tokens",
  {
    id: uuid().primaryKey(),
    purpose: text({ enum: TOKEN_PURPOSES }).notNull(),
    /** The user of the token; null for the first user, who does not exist yet. */
    userId: uuid().references(() => users.id, { onDelete: "cascade" }),
    /** SHA-256 of the token in the link or of the code, which is not stored. */
    secretHash: bytea().notNull(),
    /** Whether the token was sent only to the user's mailbox. */
    isMailed: boolean().notNull().default(false),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    expiresAt: timestamp({ withTimezone: true }).notNull(),
    spentAt: timestamp({ withTimezone: true }),
  },
  (t) => [
    uniqueIndex("sign_in_tokens_secret_key").on(t.secretHash),
    index("sign_in_tokens_user_idx").on(t.userId),
    check("sign_in_tokens_user", sql`(${t.userId} is null) = (${t.purpose} = 'first_user')`),
  ],
);

/** Sign-in attempts by limiter key: an address, an account, a known browser. Rows are deleted minutes after their last use. */
export const signInCounters = pgTable(
  "sign_in_counters",
  {
    /** SHA-256 of the counter's name. The name can contain an address, and its length is user input. */
    counter: bytea().primaryKey(),
    /** The minute of `count` since the epoch. `previous` is the count of the minute before. */
    minute: bigint({ mode: "number" }).notNull(),
    count: integer().notNull(),
    previous: integer().notNull(),
  },
  (t) => [index("sign_in_counters_minute_idx").on(t.minute)],
);

export const SYSTEM_MAIL_KINDS = ["sign_in_link", "password_reset", "invitation"] as const;
export type SystemMailKind = (typeof SYSTEM_MAIL_KINDS)[number];

/** `dropped`: not sent, because no user has that address. */
export const SYSTEM_MAIL_STATUSES = ["queued", "sending", "sent", "failed", "dropped"] as const;

/**
 * System emails, such as sign-in links. They are not in `emails`, because they belong to no team and do not appear in lists,
 * events or webhooks. Only `details` of the content is stored, encrypted, until the email is sent or has failed.
 */
export const systemMails = pgTable(
  "system_mails",
  {
    id: uuid().primaryKey(),
    kind: text({ enum: SYSTEM_MAIL_KINDS }).notNull(),
    /** In lower case. Whether a user has that address is checked when the email is sent. */
    recipient: text().notNull(),
    /** The data of its text, encrypted; null once it is no longer needed. */
    details: text(),
    status: text({ enum: SYSTEM_MAIL_STATUSES }).notNull().default("queued"),
    attempts: integer().notNull().default(0),
    /** When the lease of the sending worker expires and another worker may claim the email. */
    dueAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    leaseToken: uuid(),
    /** After this time the email is no longer useful and is not sent. */
    expiresAt: timestamp({ withTimezone: true }).notNull(),
    /** The last server reply or error. */
    lastReply: text(),
    messageId: text().notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    endedAt: timestamp({ withTimezone: true }),
  },
  (t) => [
    index("system_mails_due_idx").on(t.dueAt).where(sql`${t.status} in ('queued', 'sending')`),
    index("system_mails_recipient_idx").on(t.recipient),
  ],
);
