import { sql } from "drizzle-orm";
import { check, index, pgTable, primaryKey, unique } from "drizzle-orm/pg-core";
import { bytea, childOf, instant, now } from "../columns";
import { domains } from "./domains";
import { teams } from "./teams";

/** Providers that release 0.2.0 supports, too. It cannot send through a relay of any other provider. */
const FIRST_PROVIDERS = ["ses", "postmark", "mailgun", "sendgrid", "resend"] as const;
const ADDED_PROVIDERS = ["brevo", "mailjet", "sparkpost", "scaleway", "mailersend"] as const;

/** Supported providers: how they name an email in their callbacks is known. */
export const RELAY_PROVIDERS = [...FIRST_PROVIDERS, ...ADDED_PROVIDERS] as const;
export type RelayProvider = (typeof RELAY_PROVIDERS)[number];

/** The columns of a relay for its provider; null for an unknown one. */
export const providerColumns = (provider: RelayProvider | null) => ({
  provider: FIRST_PROVIDERS.find((first) => first === provider) ?? null,
  addedProvider: ADDED_PROVIDERS.find((added) => added === provider) ?? null,
});

/**
 * Relays added by the operator: for the whole installation if `team_id` is null, for one team, or for one of
 * its domains. The relays of one scope are tried in the order of their positions, the next one only if the
 * previous one certainly did not accept the email.
 */
export const relays = pgTable(
  "relays",
  (c) => ({
    id: c.uuid().primaryKey(),
    teamId: c.uuid().references(() => teams.id, { onDelete: "cascade" }),
    domainId: c.uuid(),
    name: c.text().notNull(),
    position: c.integer().notNull().default(1),
    /**
     * `smtp://…` or `smtps://…` with the password, encrypted. The encryption is not bound to a team; a relay
     * can have none.
     */
    url: c.text().notNull(),
    /** `host:port`, the only part of the URL that teams see. */
    host: c.text().notNull(),
    /** False if the provider changes signed headers and adds its own signature. */
    dkim: c.boolean().notNull().default(true),
    provider: c.text({ enum: FIRST_PROVIDERS }),
    /** A provider that `provider` cannot have, which is null then. */
    addedProvider: c.text({ enum: ADDED_PROVIDERS }),
    /** The secret that authenticates the provider's callbacks, encrypted; null while callbacks are off. */
    callbackSecret: c.text(),
    /** The only topic whose messages are accepted, for providers with topics. */
    callbackTopic: c.text(),
    /**
     * Added, but no login has succeeded yet: routing does not include it, and it is tested like a paused
     * one.
     */
    isUntested: c.boolean().notNull().default(false),
    /** If set, the relay is paused until this time. Then a single attempt tests it. */
    pausedUntil: instant(),
    /**
     * Why the operator paused the relay; null if the operator did not. Such a relay is not tested until it is
     * resumed.
     */
    pauseReason: c.text(),
    /** Failures of the relay since its last success. */
    failures: c.integer().notNull().default(0),
    lastFault: c.text(),
    lastFaultAt: instant(),
    createdAt: now(),
  }),
  (t) => [
    unique("relays_name_key").on(t.teamId, t.name).nullsNotDistinct(),
    check("relays_domain_of_team", sql`${t.domainId} is null or ${t.teamId} is not null`),
    childOf([t.teamId, t.domainId], [domains.teamId, domains.id]),
  ],
);

/**
 * The state of the relay that `SMTP_URL` names, shared by all workers. A row exists from the relay's first
 * fault on. The URL itself is not stored.
 */
export const smtpUrlRelays = pgTable("smtp_url_relays", (c) => ({
  /** SHA-256 of user, host and port. */
  id: c.text().primaryKey(),
  /** `host:port`. */
  host: c.text().notNull(),
  /** As in `relays`. */
  pausedUntil: instant(),
  failures: c.integer().notNull().default(0),
  lastFault: c.text(),
  lastFaultAt: instant(),
}));

/**
 * The body for which a provider's signed token was used, for providers whose signature does not cover the
 * body. A second use must have the same body. Deleted after the token has expired.
 */
export const callbackTokens = pgTable(
  "callback_tokens",
  (c) => ({
    relayId: c
      .uuid()
      .notNull()
      .references(() => relays.id, { onDelete: "cascade" }),
    /** SHA-256 of the token. */
    token: bytea().notNull(),
    /** SHA-256 of the body. */
    body: bytea().notNull(),
    expiresAt: instant().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.relayId, t.token] }), index("callback_tokens_expiry_idx").on(t.expiresAt)],
);

/**
 * The operator's rules for replies of mail servers, for the whole installation. They precede the built-in
 * tables, and are applied in the order of their names. `server/mail/replies/own-rules.ts` describes the
 * columns.
 */
export const replyRules = pgTable("reply_rules", (c) => ({
  name: c.text().primaryKey(),
  /** In lower case. */
  pattern: c.text().notNull(),
  destination: c.text(),
  class: c.text().notNull(),
  action: c.text({ enum: ["keep", "defer", "bounce", "suppress"] }).notNull(),
  /** Null for no expiry. */
  expiresAt: instant(),
  updatedAt: now(),
}));
