import { boolean, index, pgTable, primaryKey, text, timestamp, unique, uuid } from "drizzle-orm/pg-core";

export const SUPPRESSION_ORIGINS = ["bounce", "complaint", "manual"] as const;
export type SuppressionOrigin = (typeof SUPPRESSION_ORIGINS)[number];

/** An address that a team does not write to, why, and the mail that showed it. */
export const suppressions = pgTable(
  "suppressions",
  {
    teamId: uuid().notNull(),
    id: uuid().notNull(),
    /** As it stands in deliveries, the whole of it in lower case: no letter case of it is written to. */
    address: text().notNull(),
    origin: text({ enum: SUPPRESSION_ORIGINS }).notNull(),
    sourceEmailId: uuid(),
    /** By the link in a mail: blocks only what itself offers to unsubscribe, and nothing that was asked for. */
    listsOnly: boolean().notNull().default(false),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    unique("suppressions_team_address_key").on(t.teamId, t.address),
    // For searches by the first letters; the origin is in it so that those of one origin are told apart without their rows.
    index("suppressions_team_prefix_idx").on(t.teamId, t.address.op("text_pattern_ops"), t.origin),
    index("suppressions_team_origin_idx").on(t.teamId, t.origin, t.id),
  ],
);
