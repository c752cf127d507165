import {
  boolean,
  foreignKey,
  index,
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

/** Requests per minute that the operator set for one key; a class that is absent has the usual number. */
export type OwnLimits = Partial<
  Record<"POST /api/emails" | "GET /api/emails" | "POST /api/templates" | "other", number>
>;

/**
 * A bearer credential. The token is `re_<tokenId>_<secret>_<crc>`; of the secret only SHA-256 is kept, which is enough
 * for 256 random bits and costs microseconds.
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
    /** True: every domain of the team, also those added later. */
    allDomains: boolean().notNull().default(false),
    limits: jsonb().$type<OwnLimits>().notNull().default({}),
    expiresAt: timestamp({ withTimezone: true }),
    /** Written at most once a minute. */
    lastUsedAt: timestamp({ withTimezone: true }),
    revokedAt: timestamp({ withTimezone: true }),
    /** The key that this one replaces, while both are valid. */
    rotatedFrom: uuid(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex("api_keys_secret_hash_key").on(t.secretHash),
    unique("api_keys_team_id_key").on(t.teamId, t.id),
  ],
);

/** Which domains a key may send from. Both sides belong to the same team, by composite foreign keys. */
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
