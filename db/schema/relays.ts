import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  integer,
  pgTable,
  text,
  timestamp,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { domains } from "./domains";
import { teams } from "./teams";

/** Providers whose relays are known by the form of the id in their 250, and by what they tell of a mail later. */
export const RELAY_PROVIDERS = ["ses", "postmark", "mailgun", "sendgrid", "resend"] as const;
export type RelayProvider = (typeof RELAY_PROVIDERS)[number];

/**
 * Mail servers that take our mail, made by the operator: for the whole installation where `team_id` is null, for one team,
 * or for one of its domains. Those of one scope are tried by their position, the next one only where the one before
 * surely did not accept.
 */
export const relays = pgTable(
  "relays",
  {
    id: uuid().primaryKey(),
    teamId: uuid().references(() => teams.id, { onDelete: "cascade" }),
    domainId: uuid(),
    name: text().notNull(),
    position: integer().notNull().default(1),
    /** `smtp://…` or `smtps://…` with its password, encrypted. What is sealed here names no team, for it may have none. */
    url: text().notNull(),
    /** `host:port`, which is all of the URL that is ever shown. */
    host: text().notNull(),
    /** False where the provider changes fields that our signature covers, and signs by itself. */
    dkim: boolean().notNull().default(true),
    provider: text({ enum: RELAY_PROVIDERS }),
    /** What the provider proves itself by when it tells of this relay's mail, encrypted; null while it may tell nothing. */
    callbackSecret: text(),
    /** The one topic whose messages are heard, where the provider has topics. */
    callbackTopic: text(),
    /** While it is set the relay is paused: nobody tries it before this time, and then one for all. */
    pausedUntil: timestamp({ withTimezone: true }),
    /** Faults of the relay itself since it last worked. */
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
