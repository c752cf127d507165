import { and, eq, sql } from "drizzle-orm";
import { isUniqueViolation } from "#db/faults";
import { type TemplateVariable, templates, templateVersions } from "#db/schema/templates";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { newId } from "#server/ids";
import { findTemplate, getTemplate } from "./read";
import { inferVariables, variablesMax } from "./render";
import { nameCharsMax } from "./template-input";

/** What the name of a duplicate ends in. */
const COPY = " (copy)";

/** What a version says. `variables` null: taken from the placeholders. */
export type TemplateContent = {
  subject: string | null;
  html: string;
  text: string | null;
  sender: string | null;
  replyTo: string[] | null;
  variables: TemplateVariable[] | null;
};

export type NewTemplate = TemplateContent & { name: string; alias: string | null };
export type TemplateChange = Partial<NewTemplate>;

/** Makes a template whose first version is published at once, so that one call is enough before sending with it. */
export async function createTemplate(ctx: Ctx, input: NewTemplate): Promise<{ id: string }> {
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
        publishedVersionId: versionId,
        publishedAt: sql`now()`,
      });
      await tx
        .insert(templateVersions)
        .values({ id: versionId, teamId: ctx.teamId, templateId: id, number: 1, ...checkContent(input) });
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
): Promise<{ id: string }> {
  const { id } = await findTemplate(ctx, idOrAlias);
  await refusingTakenAlias(change.alias ?? null, () =>
    ctx.db.transaction(async (tx) => {
      const mine = and(eq(templates.teamId, ctx.teamId), eq(templates.id, id));
      const [template] = await tx.select().from(templates).where(mine).for("update");
      if (!template) throw notFound("Template");
      const [current] = await tx
        .select()
        .from(templateVersions)
        .where(
          and(eq(templateVersions.teamId, ctx.teamId), eq(templateVersions.id, template.currentVersionId)),
        );
      if (!current) throw notFound("Template");

      const { name = template.name, alias = template.alias, ...content } = change;
      const next = checkContent({
        ...current,
        ...content,
        variables: content.variables ?? settleVariables(current.variables, { ...current, ...content }),
      });
      const isDraft = template.currentVersionId !== template.publishedVersionId;
      const changesContent = Object.keys(content).length > 0;
      const versionId = isDraft || !changesContent ? current.id : newId();
      if (changesContent && isDraft)
        await tx
          .update(templateVersions)
          .set(next)
          .where(and(eq(templateVersions.teamId, ctx.teamId), eq(templateVersions.id, versionId)));
      else if (changesContent)
        await tx.insert(templateVersions).values({
          id: versionId,
          teamId: ctx.teamId,
          templateId: id,
          number: nextNumber(ctx, id),
          ...next,
        });
      await tx
        .update(templates)
        .set({ name, alias, currentVersionId: versionId, updatedAt: sql`now()` })
        .where(mine);
    }),
  );
  return { id };
}

/** Behind every version there is: after a roll back the current one is not the last. Asked for with the template locked. */
const nextNumber = (ctx: Ctx, id: string) =>
  sql`(select max(v.number) + 1 from ${templateVersions} v where v.team_id = ${ctx.teamId} and v.template_id = ${id})`;

/** Sends the current version live from now on. Publishing what is published already changes nothing. */
export async function publishTemplate(ctx: Ctx, idOrAlias: string): Promise<{ id: string }> {
  const { id } = await findTemplate(ctx, idOrAlias);
  await ctx.db
    .update(templates)
    .set({
      publishedVersionId: sql`${templates.currentVersionId}`,
      publishedAt: sql`now()`,
      updatedAt: sql`now()`,
    })
    .where(
      and(
        eq(templates.teamId, ctx.teamId),
        eq(templates.id, id),
        sql`${templates.publishedVersionId} is distinct from ${templates.currentVersionId}`,
      ),
    );
  return { id };
}

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
  });
  return { id };
}

/** Removes a template and its versions. Mail that was made with it keeps what it said. */
export async function deleteTemplate(ctx: Ctx, idOrAlias: string): Promise<{ id: string }> {
  const { id } = await findTemplate(ctx, idOrAlias);
  await ctx.db.delete(templates).where(and(eq(templates.teamId, ctx.teamId), eq(templates.id, id)));
  return { id };
}

/**
 * The variables after a change that names none: what is still used or has a fallback stays as it was declared, what is
 * new among the placeholders joins, and what no placeholder asks for any more is asked of nobody.
 */
function settleVariables(
  declared: TemplateVariable[],
  { subject, html, text }: Pick<TemplateContent, "subject" | "html" | "text">,
): TemplateVariable[] {
  const used = inferVariables({ subject, html, text });
  const kept = declared.filter(
    ({ key, fallbackValue }) => fallbackValue !== null || used.some((variable) => variable.key === key),
  );
  return [...kept, ...used.filter(({ key }) => !kept.some((variable) => variable.key === key))];
}

/** Content with its variables settled: each placeholder is declared, each declared name once. */
function checkContent(input: TemplateContent) {
  const { subject, html, text, sender, replyTo } = input;
  const used = inferVariables({ subject, html, text });
  const variables = input.variables ?? used;
  const undeclared = used.filter(({ key }) => !variables.some((variable) => variable.key === key));
  if (undeclared.length > 0)
    throw new AppError(
      "invalid",
      `Invalid \`variables\`: it does not declare ${undeclared
        .slice(0, 10)
        .map(({ key }) => `\`${key}\``)
        .join(", ")}. Declare every placeholder, or leave \`variables\` out.`,
    );
  if (variables.length > variablesMax)
    throw new AppError("invalid", `The template has more than ${variablesMax} variables. Use fewer.`);
  return { subject, html, text, sender, replyTo, variables };
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
