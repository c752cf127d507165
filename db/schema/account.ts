import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
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
