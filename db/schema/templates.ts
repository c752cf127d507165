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

/** A declared placeholder. `fallbackValue` null means that a send must bring a value. */
export type TemplateVariable = {
  key: string;
  type: "string" | "number";
  fallbackValue: string | number | null;
};

/** A template's name and pointers; what it says stands in its versions. */
export const templates = pgTable(
  "templates",
  {
    id: uuid().primaryKey(),
    teamId: uuid()
      .notNull()
      .references(() => teams.id, { onDelete: "cascade" }),
    name: text().notNull(),
    alias: text(),
    /** The version that the editor shows: the published one, or a draft newer than it. */
    currentVersionId: uuid().notNull(),
    /** The version that sends use; null until first published. */
    publishedVersionId: uuid(),
    publishedAt: timestamp({ withTimezone: true }),
    /** Counts every change: whoever changes what they read can be told when somebody else was faster. */
    revision: integer().notNull().default(1),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    unique("templates_team_id_key").on(t.teamId, t.id),
    uniqueIndex("templates_team_alias_key").on(t.teamId, t.alias).where(sql`${t.alias} is not null`),
  ],
);

/** One state of a template's content. A published version never changes again. */
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
