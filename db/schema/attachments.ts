import { foreignKey, integer, pgTable, primaryKey, smallint, text, uuid } from "drizzle-orm/pg-core";
import { bytea } from "../columns";
import { emails } from "./emails";

/** A file of an email. Stored separately, so that only delivery and download read the bytes. */
export const attachments = pgTable(
  "attachments",
  {
    teamId: uuid().notNull(),
    id: uuid().notNull(),
    emailId: uuid().notNull(),
    position: smallint().notNull(),
    filename: text(),
    contentType: text().notNull(),
    /** Content-ID without angle brackets. If set, the part is inline and the HTML can refer to it as `cid:`. */
    contentId: text(),
    sizeBytes: integer().notNull(),
    content: bytea().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.emailId, t.id] }),
    foreignKey({ columns: [t.teamId, t.emailId], foreignColumns: [emails.teamId, emails.id] }).onDelete(
      "cascade",
    ),
  ],
);
