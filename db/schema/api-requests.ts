import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, primaryKey, text, timestamp, uuid } from "drizzle-orm/pg-core";

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
