import { sql } from "drizzle-orm";
import {
  foreignKey,
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
import { teams } from "./teams";

/** A declared variable. If `fallbackValue` is null, each send must provide a value. */
export type TemplateVariable = {
  key: string;
  type: "string" | "number";
  fallbackValue: string | number | null;
};

/** A template's name and the pointers to its versions, which contain the content. */
export const templates = pgTable(
  "templates",
  {
    id: uuid().primaryKey(),
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    name: text().notNull(),
    alias: text(),
    /** The version in the editor: the published one, or a newer draft. */
    currentVersionId: uuid().notNull(),
    /** The version used for sending; null until first published. */
    publishedVersionId: uuid(),
    publishedAt: timestamp({ withTimezone: true }),
    /** Incremented by each change, to detect concurrent edits. */
    revision: integer().notNull().default(1),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    unique("templates_team_id_key").on(t.teamId, t.id),
    uniqueIndex("templates_team_alias_key").on(t.teamId, t.alias).where(sql`${t.alias} is not null`),
  ],
);

/** One version of a template's content. A published version never changes. */
export const templateVersions = pgTable(
  "template_versions",
  {
    id: uuid().notNull(),
    teamId: uuid().notNull(),
    templateId: uuid().notNull(),
    number: integer().notNull(),
    subject: text(),
    html: text().notNull(),
    text: text(),
    sender: text(),
    replyTo: text().array(),
    variables: jsonb().$type<TemplateVariable[]>().notNull().default([]),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    unique("template_versions_number_key").on(t.teamId, t.templateId, t.number),
    foreignKey({
      columns: [t.teamId, t.templateId],
      foreignColumns: [templates.teamId, templates.id],
    }).onDelete("cascade"),
  ],
);
