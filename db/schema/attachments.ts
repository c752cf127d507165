import { foreignKey, integer, pgTable, primaryKey, smallint, text, uuid } from "drizzle-orm/pg-core";
import { bytea } from "../columns";
import { emails } from "./emails";

/** A file of a mail, apart from it so that only its delivery and its download touch the bytes. */
export const attachments = pgTable(
  "attachments",
  {
    teamId: uuid().notNull(),
    id: uuid().notNull(),
    emailId: uuid().notNull(),
    position: smallint().notNull(),
    filename: text(),
    contentType: text().notNull(),
    /** Without angle brackets; with one the part is inline and the HTML may refer to it as `cid:`. */
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
