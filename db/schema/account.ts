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

/** An authenticator app (RFC 6238), one for each person. It counts from the moment that a code of it was seen. */
export const totpFactors = pgTable("totp_factors", {
  userId: uuid()
    .primaryKey()
    .references(() => users.id, { onDelete: "cascade" }),
  /** Sealed by the vault. */
  secret: text().notNull(),
  confirmedAt: timestamp({ withTimezone: true }),
  /** The time step of the last code that was taken: neither it nor an earlier one is taken again. */
  lastStep: bigint({ mode: "number" }).notNull().default(0),
  createdAt: now(),
});

/** Codes for whoever lost every other second factor. Each opens once. */
export const recoveryCodes = pgTable(
  "recovery_codes",
  {
    id: uuid().primaryKey(),
    userId: ofUser(),
    /** SHA-256; 80 random bits need no slow hash. */
    codeHash: bytea().notNull(),
    usedAt: timestamp({ withTimezone: true }),
    createdAt: now(),
  },
  (t) => [index("recovery_codes_user_idx").on(t.userId)],
);

/** A discoverable WebAuthn credential with user verification: a sign-in by itself, and a second factor. */
export const passkeys = pgTable(
  "passkeys",
  {
    id: uuid().primaryKey(),
    userId: ofUser(),
    /** base64url, as the authenticator chose it. */
    credentialId: text().notNull(),
    /** COSE. */
    publicKey: bytea().notNull(),
    /** Signatures that the authenticator says it made; 0 where it does not count. */
    counter: bigint({ mode: "number" }).notNull(),
    transports: text().array().notNull().default([]),
    /** Whether it may be on several devices, by way of somebody's cloud. */
    isSynced: boolean().notNull(),
    name: text().notNull(),
    createdAt: now(),
    lastUsedAt: timestamp({ withTimezone: true }),
  },
  (t) => [uniqueIndex("passkeys_credential_key").on(t.credentialId), index("passkeys_user_idx").on(t.userId)],
);

export const PASSKEY_PURPOSES = ["register", "sign_in", "second_step"] as const;
export type PasskeyPurpose = (typeof PASSKEY_PURPOSES)[number];

/** What an authenticator is to sign. Reading one takes it away. */
export const passkeyChallenges = pgTable("passkey_challenges", {
  /** base64url of 32 random bytes. */
  challenge: text().primaryKey(),
  purpose: text({ enum: PASSKEY_PURPOSES }).notNull(),
  /** Null where anybody's passkey may answer. */
  userId: uuid().references(() => users.id, { onDelete: "cascade" }),
  expiresAt: timestamp({ withTimezone: true }).notNull(),
});

/** How a person first proved who they are. */
export const SIGN_IN_WAYS = ["password", "link", "passkey", "github", "google"] as const;
export type SignInWay = (typeof SIGN_IN_WAYS)[number];

/** Somebody who gave a first proof and still owes the second. It is no session and opens nothing. */
export const secondSteps = pgTable("second_steps", {
  /** SHA-256 of the token in their browser. */
  tokenHash: bytea().primaryKey(),
  userId: ofUser(),
  way: text({ enum: SIGN_IN_WAYS }).notNull(),
  tries: integer().notNull().default(0),
  expiresAt: timestamp({ withTimezone: true }).notNull(),
});

export const SIGN_IN_PROVIDERS = ["github", "google"] as const;
export type SignInProvider = (typeof SIGN_IN_PROVIDERS)[number];

/** Accounts elsewhere by which people sign in. The provider's id decides, whatever address it tells later. */
export const accounts = pgTable(
  "accounts",
  {
    provider: text({ enum: SIGN_IN_PROVIDERS }).notNull(),
    providerAccountId: text().notNull(),
    userId: ofUser(),
    /** The verified address by which it was linked. */
    email: text().notNull(),
    createdAt: now(),
    lastUsedAt: now(),
  },
  (t) => [
    primaryKey({ columns: [t.provider, t.providerAccountId] }),
    // One account of each provider for each person, so that the list of them needs no names.
    uniqueIndex("accounts_user_provider_key").on(t.userId, t.provider),
  ],
);

/** What happened to a person's account, for them to see. Kept 90 days. */
export const accountEvents = pgTable(
  "account_events",
  {
    /** UUIDv7: sorts by time. */
    id: uuid().primaryKey(),
    userId: ofUser(),
    kind: text().notNull(),
    /** What it was done to or by, in words: a passkey's name, a provider. */
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
