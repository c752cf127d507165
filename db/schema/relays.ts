import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { bytea } from "../columns";
import { domains } from "./domains";
import { teams } from "./teams";

/** Supported providers: the id format of their 250 reply and their callbacks are known. */
export const RELAY_PROVIDERS = ["ses", "postmark", "mailgun", "sendgrid", "resend"] as const;
export type RelayProvider = (typeof RELAY_PROVIDERS)[number];

/**
 * Relays added by the operator: for the whole installation if `team_id` is null, for one team, or for one of its domains.
 * The relays of one scope are tried in the order of their positions, the next one only if the previous one certainly did
 * not accept the email.
 */
export const relays = pgTable(
  "relays",
  {
    id: uuid().primaryKey(),
    teamId: uuid().references(() => teams.id, { onDelete: "cascade" }),
    domainId: uuid(),
    name: text().notNull(),
    position: integer().notNull().default(1),
    /** `smtp://…` or `smtps://…` with the password, encrypted. The encryption is not bound to a team; a relay can have none. */
    url: text().notNull(),
    /** `host:port`, the only part of the URL that is ever shown. */
    host: text().notNull(),
    /** False if the provider changes signed headers and adds its own signature. */
    dkim: boolean().notNull().default(true),
    provider: text({ enum: RELAY_PROVIDERS }),
    /** The secret that authenticates the provider's callbacks, encrypted; null while callbacks are off. */
    callbackSecret: text(),
    /** The only topic whose messages are accepted, for providers with topics. */
    callbackTopic: text(),
    /** If set, the relay is paused until this time. Then a single attempt tests it. */
    pausedUntil: timestamp({ withTimezone: true }),
    /** Failures of the relay since its last success. */
    failures: integer().notNull().default(0),
    lastFault: text(),
    lastFaultAt: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    unique("relays_name_key").on(t.teamId, t.name).nullsNotDistinct(),
    check("relays_domain_of_team", sql`${t.domainId} is null or ${t.teamId} is not null`),
    foreignKey({ columns: [t.teamId, t.domainId], foreignColumns: [domains.teamId, domains.id] }).onDelete(
      "cascade",
    ),
  ],
);

/**
 * The body for which a provider's signed token was used, for providers whose signature does not cover the body. A second use
 * must have the same body. Deleted after the token has expired.
 */
export const callbackTokens = pgTable(
  "callback_tokens",
  {
    relayId: uuid()
      .notNull()
      .references(() => relays.id, { onDelete: "cascade" }),
    /** SHA-256 of the token. */
    token: bytea().notNull(),
    /** SHA-256 of the body. */
    body: bytea().notNull(),
    expiresAt: timestamp({ withTimezone: true }).notNull(),
  },
  (t) => [primaryKey({ columns: [t.relayId, t.token] }), index("callback_tokens_expiry_idx").on(t.expiresAt)],
);
