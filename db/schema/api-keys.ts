import { sql } from "drizzle-orm";
import { index, pgTable, primaryKey, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { bytea, childOf, instant, now } from "../columns";
import { domains } from "./domains";
import { ofTeam } from "./teams";

/** Requests per minute by class, set by the operator for one key. Absent classes have the default limit. */
export type OwnLimits = Partial<
  Record<"POST /api/emails" | "GET /api/emails" | "POST /api/templates" | "other", number>
>;

/**
 * A bearer credential. The token is `re_<tokenId>_<secret>_<crc>`. Only the SHA-256 of the secret is stored,
 * which is sufficient for 256 random bits and takes microseconds.
 */
export const apiKeys = pgTable(
  "api_keys",
  (c) => ({
    id: c.uuid().primaryKey(),
    teamId: ofTeam(),
    name: c.text().notNull(),
    tokenId: c.text().notNull(),
    secretHash: bytea().notNull(),
    scopes: c.text().array().notNull(),
    /** True: all domains of the team, including those added later. */
    allDomains: c.boolean().notNull().default(false),
    limits: c.jsonb().$type<OwnLimits>().notNull().default({}),
    /** Networks in CIDR notation from which clients may use the key. Empty: from every address. */
    clientNetworks: c.text().array().notNull().default([]),
    expiresAt: instant(),
    /** Updated at most once per minute. */
    lastUsedAt: instant(),
    revokedAt: instant(),
    /**
     * The key from which this one descends, because keys created each other. Null if a person or the operator
     * created it: then it is the first of its family.
     */
    familyId: c.uuid(),
    /** The key that this key replaces, while both are valid. */
    rotatedFrom: c.uuid(),
    createdAt: now(),
  }),
  (t) => [
    uniqueIndex("api_keys_secret_hash_key").on(t.secretHash),
    unique("api_keys_team_id_key").on(t.teamId, t.id),
  ],
);

/** The domains that a key may send from. Composite foreign keys ensure that both belong to the same team. */
export const apiKeyDomains = pgTable(
  "api_key_domains",
  (c) => ({
    teamId: c.uuid().notNull(),
    apiKeyId: c.uuid().notNull(),
    domainId: c.uuid().notNull(),
  }),
  (t) => [
    primaryKey({ columns: [t.apiKeyId, t.domainId] }),
    index("api_key_domains_domain_idx").on(t.teamId, t.domainId),
    childOf([t.teamId, t.apiKeyId], [apiKeys.teamId, apiKeys.id]),
    childOf([t.teamId, t.domainId], [domains.teamId, domains.id]),
  ],
);

/**
 * A recent API request by a key, retained for 7 days. Secrets and message content are removed from the
 * bodies.
 */
export const apiRequests = pgTable(
  "api_requests",
  (c) => ({
    teamId: c.uuid().notNull(),
    id: c.uuid().notNull(),
    apiKeyId: c.uuid().notNull(),
    method: c.text().notNull(),
    /** The path without the query. */
    path: c.text().notNull(),
    status: c.integer().notNull(),
    userAgent: c.text(),
    requestBody: c.jsonb(),
    responseBody: c.jsonb(),
    /** The emails in the response to a request that sends: the stored body can lack those of a batch. */
    emailIds: c.uuid().array(),
    /** The reason of a 403 response: the code and the sentence of the header. */
    rejectionReason: c.text(),
    rejectionDetail: c.text(),
    createdAt: now(),
  }),
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
