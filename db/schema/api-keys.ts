import { sql } from "drizzle-orm";
import {
  boolean,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { bytea } from "../columns";
import { domains } from "./domains";
import { teams } from "./teams";

/** Requests per minute by class, set by the operator for one key. Absent classes have the default limit. */
export type OwnLimits = Partial<
  Record<"POST /api/emails" | "GET /api/emails" | "POST /api/templates" | "other", number>
>;

/**
 * A bearer credential. The token is `re_<tokenId>_<secret>_<crc>`. Only the SHA-256 of the secret is stored, which is
 * sufficient for 256 random bits and takes microseconds.
 */
export const apiKeys = pgTable(
  "api_keys",
  {
    id: uuid().primaryKey(),
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    name: text().notNull(),
    tokenId: text().notNull(),
    secretHash: bytea().notNull(),
    scopes: text().array().notNull(),
    /** True: all domains of the team, including those added later. */
    allDomains: boolean().notNull().default(false),
    limits: jsonb().$type<OwnLimits>().notNull().default({}),
    expiresAt: timestamp({ withTimezone: true }),
    /** Updated at most once per minute. */
    lastUsedAt: timestamp({ withTimezone: true }),
    revokedAt: timestamp({ withTimezone: true }),
    /** The key that this key replaces, while both are valid. */
    rotatedFrom: uuid(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex("api_keys_secret_hash_key").on(t.secretHash),
    unique("api_keys_team_id_key").on(t.teamId, t.id),
  ],
);

/** The domains that a key may send from. Composite foreign keys ensure that both belong to the same team. */
export const apiKeyDomains = pgTable(
  "api_key_domains",
  {
    teamId: uuid().notNull(),
    apiKeyId: uuid().notNull(),
    domainId: uuid().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.apiKeyId, t.domainId] }),
    index("api_key_domains_domain_idx").on(t.teamId, t.domainId),
    foreignKey({ columns: [t.teamId, t.apiKeyId], foreignColumns: [apiKeys.teamId, apiKeys.id] }).onDelete(
      "cascade",
    ),
    foreignKey({ columns: [t.teamId, t.domainId], foreignColumns: [domains.teamId, domains.id] }).onDelete(
      "cascade",
    ),
  ],
);

/** A recent API request by a key, retained for 7 days. Secrets and message content are removed from the bodies. */
export const apiRequests = pgTable(
  "api_requests",
  {
    teamId: uuid().notNull(),
    id: uuid().notNull(),
    apiKeyId: uuid().notNull(),
    method: text().notNull(),
    /** The path without the query. */
    path: text().notNull(),
    status: integer().notNull(),
    userAgent: text(),
    requestBody: jsonb(),
    responseBody: jsonb(),
    /** The reason of a 403 response: the code and the sentence of the header. */
    rejectionReason: text(),
    rejectionDetail: text(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    // For deleting old rows of all teams.
    index("api_requests_created_idx").on(t.createdAt),
    // Rejected requests are rare, and they are counted for each key.
    index("api_requests_refused_idx")
      .on(t.teamId, t.apiKeyId, t.createdAt)
      .where(sql`${t.status} in (401, 403, 429)`),
  ],
);
