import { sql } from "drizzle-orm";
import { pgTable, primaryKey, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { childOf, instant, now } from "../columns";
import { ofTeam } from "./teams";

/** A value that a template inserts, or a list or an object of such values. */
export type TemplateValue =
  | string
  | number
  | boolean
  | null
  | readonly TemplateValue[]
  | { readonly [name: string]: TemplateValue };

/**
 * A declared variable. If `fallbackValue` is null, each send must provide a value, unless `{{#if}}` checks
 * it.
 */
export type TemplateVariable = {
  key: string;
  type: "string" | "number" | "boolean" | "list" | "object";
  fallbackValue: TemplateValue;
};

/** A template's name and the pointers to its versions, which contain the content. */
export const templates = pgTable(
  "templates",
  (c) => ({
    id: c.uuid().primaryKey(),
    teamId: ofTeam(),
    name: c.text().notNull(),
    alias: c.text(),
    /** The version in the editor: the published one, or a newer draft. */
    currentVersionId: c.uuid().notNull(),
    /** The version used for sending; null until first published. */
    publishedVersionId: c.uuid(),
    publishedAt: instant(),
    /** Incremented by each change, to detect concurrent edits. */
    revision: c.integer().notNull().default(1),
    createdAt: now(),
    updatedAt: now(),
  }),
  (t) => [
    unique("templates_team_id_key").on(t.teamId, t.id),
    uniqueIndex("templates_team_alias_key").on(t.teamId, t.alias).where(sql`${t.alias} is not null`),
  ],
);

/** One version of a template's content. A published version never changes. */
export const templateVersions = pgTable(
  "template_versions",
  (c) => ({
    id: c.uuid().notNull(),
    teamId: c.uuid().notNull(),
    templateId: c.uuid().notNull(),
    number: c.integer().notNull(),
    subject: c.text(),
    html: c.text().notNull(),
    text: c.text(),
    sender: c.text(),
    replyTo: c.text().array(),
    variables: c.jsonb().$type<TemplateVariable[]>().notNull().default([]),
    createdAt: now(),
  }),
  (t) => [
    primaryKey({ columns: [t.teamId, t.id] }),
    unique("template_versions_number_key").on(t.teamId, t.templateId, t.number),
    childOf([t.teamId, t.templateId], [templates.teamId, templates.id]),
  ],
);
