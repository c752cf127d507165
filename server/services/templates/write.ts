import { and, eq, sql } from "drizzle-orm";
import { isUniqueViolation } from "#db/faults";
import { templates, templateVersions } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { type AuditEntry, isJustRecorded, recordAudit } from "../audit/record";
import { checkContent, findForeignTags, type TemplateContent, updateVariables } from "./content";
import { findTemplate, getTemplate, isTemplate, lockTemplate, type Seen } from "./read";
import { nameCharsMax } from "./template-input";
import { findVersion } from "./versions";

/** Suffix for the name of a duplicate. */
const COPY_SUFFIX = " (copy)";

export type NewTemplate = TemplateContent & { name: string; alias: string | null };
/** A given field replaces the value; null clears it, and undefined keeps it. */
export type TemplateChange = Partial<NewTemplate>;
/** Warnings about stored content that is probably a mistake: see `findForeignTags`. */
type Warned = { warnings: string[] };
/**
 * The result of a change: the template's new revision, and the number of the version with the new content.
 */
export type ChangedTemplate = Warned & { id: string; revision: number; version: number };

/**
 * Creates a template. With `published`, sends can use its first version at once; a draft must be published
 * first.
 */
export async function createTemplate(
  ctx: Ctx,
  input: NewTemplate,
  as: "published" | "draft" = "published",
): Promise<Warned & { id: string }> {
  const { name, alias } = input;
  const isPublished = as === "published";
  const id = await rejectTakenAlias(alias, () =>
    insertTemplate(ctx, { name, alias, isPublished, content: checkContent(input) }, (id) => ({
      action: "template.created",
      subject: { id, name },
      detail: { alias, published: isPublished },
    })),
  );
  return { id, warnings: findForeignTags(input) };
}

type NewRows = {
  name: string;
  alias: string | null;
  isPublished: boolean;
  content: ReturnType<typeof checkContent>;
};

/** Inserts a template with its first version, and its audit entry. Returns its id. */
async function insertTemplate(
  ctx: Ctx,
  { name, alias, isPublished, content }: NewRows,
  audit: (id: string) => Parameters<typeof recordAudit>[2],
): Promise<string> {
  const [id, versionId] = [newId(), newId()];
  const { teamId } = ctx;
  await ctx.db.transaction(async (tx) => {
    await tx.insert(templates).values({
      id,
      teamId,
      name,
      alias,
      currentVersionId: versionId,
      ...(isPublished && { publishedVersionId: versionId, publishedAt: sql`now()` }),
    });
    await tx
      .insert(templateVersions)
      .values({ id: versionId, teamId, templateId: id, number: 1, ...content });
    await recordAudit(tx, ctx, audit(id));
  });
  return id;
}

/**
 * Updates a template. New content goes into a draft: the published version stays in use until the next
 * publish. An unpublished draft is updated in place. Name and alias belong to the template and change
 * immediately. Automatic changes of an actor in the same fields have one audit entry for 10 minutes.
 */
export async function updateTemplate(
  ctx: Ctx,
  idOrAlias: string,
  change: TemplateChange,
  { isAutomatic = false, ...seen }: Seen & { isAutomatic?: boolean | undefined } = {},
): Promise<ChangedTemplate> {
  const given: TemplateChange = Object.fromEntries(
    Object.entries(change).filter(([, value]) => value !== undefined),
  );
  const { id } = await findTemplate(ctx, idOrAlias);
  return rejectTakenAlias(given.alias ?? null, () =>
    ctx.db.transaction(async (tx) => {
      const template = await lockTemplate(tx, ctx, id, seen);
      const current = await findVersion({ ...ctx, db: tx }, id, template.currentVersionId);
      const { name = template.name, alias = template.alias, ...content } = given;
      const next = checkContent({
        ...current,
        ...content,
        variables: content.variables ?? updateVariables(current.variables, { ...current, ...content }),
      });
      const isDraft = template.currentVersionId !== template.publishedVersionId;
      const changesContent = Object.keys(content).length > 0;
      let version = { id: current.id, number: current.number };
      if (changesContent && isDraft)
        await tx
          .update(templateVersions)
          .set(next)
          .where(and(eq(templateVersions.teamId, ctx.teamId), eq(templateVersions.id, current.id)));
      else if (changesContent) {
        const [draft] = await tx
          .insert(templateVersions)
          .values({ id: newId(), teamId: ctx.teamId, templateId: id, number: nextNumber(ctx, id), ...next })
          .returning({ id: templateVersions.id, number: templateVersions.number });
        version = draft ?? version;
      }
      await tx
        .update(templates)
        .set({
          name,
          alias,
          currentVersionId: version.id,
          updatedAt: sql`now()`,
          revision: template.revision + 1,
        })
        .where(isTemplate(ctx, id));
      const entry: AuditEntry = {
        action: "template.changed",
        subject: { id, name },
        detail: { changed: Object.keys(given), version: version.number },
      };
      if (!isAutomatic || !(await isJustRecorded(tx, ctx, entry))) await recordAudit(tx, ctx, entry);
      const warnings = findForeignTags(next);
      return { id, revision: template.revision + 1, version: version.number, warnings };
    }),
  );
}

/**
 * One more than the highest version: after a rollback the current version is not the last. Requires the
 * template lock.
 */
const nextNumber = (ctx: Ctx, id: string) =>
  sql`(select max(v.number) + 1 from ${templateVersions} v where v.team_id = ${ctx.teamId} and v.template_id = ${id})`;

/**
 * Creates a copy of what the editor shows of this template. The copy is a draft without an alias, so no send
 * can use it before it is published.
 */
export async function duplicateTemplate(ctx: Ctx, idOrAlias: string): Promise<{ id: string }> {
  const source = await getTemplate(ctx, idOrAlias);
  const { subject, html, text, sender, replyTo, variables } = source.version;
  const name =
    source.name.slice(0, nameCharsMax - COPY_SUFFIX.length).replace(/\p{Surrogate}$/u, "") + COPY_SUFFIX;
  const content = { subject, html, text, sender, replyTo, variables };
  const id = await insertTemplate(ctx, { name, alias: null, isPublished: false, content }, (id) => ({
    action: "template.duplicated",
    subject: { id, name },
    detail: { from: source.id, fromName: source.name },
  }));
  return { id };
}

/** Deletes a template and its versions. Emails that were sent with it keep their content. */
export async function deleteTemplate(ctx: Ctx, idOrAlias: string): Promise<{ id: string }> {
  const { id } = await findTemplate(ctx, idOrAlias);
  await ctx.db.transaction(async (tx) => {
    const { name, alias } = await lockTemplate(tx, ctx, id);
    await tx.delete(templates).where(isTemplate(ctx, id));
    await recordAudit(tx, ctx, { action: "template.deleted", subject: { id, name }, detail: { alias } });
  });
  return { id };
}

async function rejectTakenAlias<T>(alias: string | null, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (isUniqueViolation(error, "templates_team_alias_key"))
      throw new AppError("conflict", `Another template has the alias "${alias}". Choose a different one.`, {
        cause: error,
      });
    throw error;
  }
}
