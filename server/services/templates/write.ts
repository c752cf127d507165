import { and, eq, sql } from "drizzle-orm";
import { isUniqueViolation } from "#db/faults";
import { templates, templateVersions } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { AppError } from "#server/errors";
import { newId } from "#server/ids";
import { recordAudit } from "../audit/record";
import { checkContent, settleVariables, type TemplateContent } from "./content";
import { isTemplate, lockTemplate, type Seen } from "./lock";
import { findTemplate, getTemplate, versionOf } from "./read";
import { nameCharsMax } from "./template-input";

/** What the name of a duplicate ends in. */
const COPY = " (copy)";

export type NewTemplate = TemplateContent & { name: string; alias: string | null };
export type TemplateChange = Partial<NewTemplate>;
/** Where a change has led: what the template counts now, and the number of the version that has the new content. */
export type ChangedTemplate = { id: string; revision: number; version: number };

/**
 * Makes a template. Published, its first version sends at once, so that one call is enough before sending with it; a draft
 * waits for its publishing.
 */
export async function createTemplate(
  ctx: Ctx,
  input: NewTemplate,
  as: "published" | "draft" = "published",
): Promise<{ id: string }> {
  const id = newId();
  const versionId = newId();
  await refusingTakenAlias(input.alias, () =>
    ctx.db.transaction(async (tx) => {
      await tx.insert(templates).values({
        id,
        teamId: ctx.teamId,
        name: input.name,
        alias: input.alias,
        currentVersionId: versionId,
        ...(as === "published" && { publishedVersionId: versionId, publishedAt: sql`now()` }),
      });
      await tx
        .insert(templateVersions)
        .values({ id: versionId, teamId: ctx.teamId, templateId: id, number: 1, ...checkContent(input) });
      await recordAudit(tx, ctx, {
        action: "template.created",
        subject: { id, name: input.name },
        detail: { alias: input.alias, published: as === "published" },
      });
    }),
  );
  return { id };
}

/**
 * Changes a template. New content goes into a draft: the published version keeps sending until the next publish. A draft
 * that is not yet published is changed in place. Name and alias are the template's own and change at once.
 */
export async function updateTemplate(
  ctx: Ctx,
  idOrAlias: string,
  change: TemplateChange,
  seen?: Seen,
): Promise<ChangedTemplate> {
  const { id } = await findTemplate(ctx, idOrAlias);
  return refusingTakenAlias(change.alias ?? null, () =>
    ctx.db.transaction(async (tx) => {
      const template = await lockTemplate(tx, ctx, id, seen);
      const current = await versionOf({ ...ctx, db: tx }, id, template.currentVersionId);
      const { name = template.name, alias = template.alias, ...content } = change;
      const next = checkContent({
        ...current,
        ...content,
        variables: content.variables ?? settleVariables(current.variables, { ...current, ...content }),
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
      await recordAudit(tx, ctx, {
        action: "template.changed",
        subject: { id, name },
        detail: { changed: Object.keys(change), version: version.number },
      });
      return { id, revision: template.revision + 1, version: version.number };
    }),
  );
}

/** Behind every version there is: after a roll back the current one is not the last. Asked for with the template locked. */
const nextNumber = (ctx: Ctx, id: string) =>
  sql`(select max(v.number) + 1 from ${templateVersions} v where v.team_id = ${ctx.teamId} and v.template_id = ${id})`;

/**
 * Makes another template that says what the editor shows of this one. It is a draft without an alias: a copy is made to be
 * changed, and nothing sends with it before it is published.
 */
export async function duplicateTemplate(ctx: Ctx, idOrAlias: string): Promise<{ id: string }> {
  const source = await getTemplate(ctx, idOrAlias);
  const { subject, html, text, sender, replyTo, variables } = source.version;
  const id = newId();
  const versionId = newId();
  const name = source.name.slice(0, nameCharsMax - COPY.length).replace(/\p{Surrogate}$/u, "") + COPY;
  await ctx.db.transaction(async (tx) => {
    await tx.insert(templates).values({ id, teamId: ctx.teamId, name, currentVersionId: versionId });
    await tx.insert(templateVersions).values({
      id: versionId,
      teamId: ctx.teamId,
      templateId: id,
      number: 1,
      subject,
      html,
      text,
      sender,
      replyTo,
      variables,
    });
    await recordAudit(tx, ctx, {
      action: "template.duplicated",
      subject: { id, name },
      detail: { from: source.id, fromName: source.name },
    });
  });
  return { id };
}

/** Removes a template and its versions. Mail that was made with it keeps what it said. */
export async function deleteTemplate(ctx: Ctx, idOrAlias: string): Promise<{ id: string }> {
  const { id } = await findTemplate(ctx, idOrAlias);
  await ctx.db.transaction(async (tx) => {
    const { name, alias } = await lockTemplate(tx, ctx, id);
    await tx.delete(templates).where(isTemplate(ctx, id));
    await recordAudit(tx, ctx, { action: "template.deleted", subject: { id, name }, detail: { alias } });
  });
  return { id };
}

async function refusingTakenAlias<T>(alias: string | null, write: () => Promise<T>): Promise<T> {
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
