import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgTable, primaryKey, text, timestamp, uuid } from "drizzle-orm/pg-core";

/** A recent call of the API by a key, kept seven days; bodies with secrets and contents taken out. */
export const apiRequests = pgTable(
  "api_requests",
  {
    teamId: uuid().notNull(),
    id: uuid().notNull(),
    apiKeyId: uuid().notNull(),
    method: text().notNull(),
    /** The path without its query. */
    path: text().notNull(),
    status: integer().notNull(),
    userAgent: text(),
    requestBody: jsonb(),
    responseBody: jsonb(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    // For forgetting the old ones, whosever they are.
    index("api_requests_created_idx").on(t.createdAt),
    // Few of many calls are refused, and each key's are counted.
    index("api_requests_refused_idx")
      .on(t.teamId, t.apiKeyId, t.createdAt)
      .where(sql`${t.status} in (401, 403, 429)`),
  ],
);
