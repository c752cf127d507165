import { index, pgTable, primaryKey, unique } from "drizzle-orm/pg-core";
import { now } from "../columns";

export const SUPPRESSION_ORIGINS = ["bounce", "complaint", "unsubscribe", "manual"] as const;
export type SuppressionOrigin = (typeof SUPPRESSION_ORIGINS)[number];

/** An entry of a team's suppression list: the address, the reason, and the email that caused it. */
export const suppressions = pgTable(
  "suppressions",
  (c) => ({
    teamId: c.uuid().notNull(),
    id: c.uuid().notNull(),
    /** The address in lower case. It matches all letter cases of the address. */
    address: c.text().notNull(),
    origin: c.text({ enum: SUPPRESSION_ORIGINS }).notNull(),
    sourceEmailId: c.uuid(),
    /** An unsubscribe. It blocks only emails that offer unsubscribing, not other emails. */
    listsOnly: c.boolean().notNull().default(false),
    /** With `listsOnly`: the lists whose emails it blocks, by name; null: all that offer unsubscribing. */
    lists: c.text().array(),
    createdAt: now(),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    unique("suppressions_team_address_key").on(t.teamId, t.address),
    // For prefix searches. It includes the origin, so that a filter by origin does not read the rows.
    index("suppressions_team_prefix_idx").on(t.teamId, t.address.op("text_pattern_ops"), t.origin),
    index("suppressions_team_origin_idx").on(t.teamId, t.origin, t.id),
  ],
);

/** A row of `suppressions`, as `to_jsonb` returns it. */
export type SuppressionRow = {
  id: string;
  address: string;
  origin: SuppressionOrigin;
  source_email_id: string | null;
  lists_only: boolean;
  /** Absent in an event that release 0.2.0 queued. */
  lists?: string[] | null;
  created_at: string;
};
