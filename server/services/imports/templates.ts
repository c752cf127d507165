import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import type { Ctx } from "#server/deps";
import { formatMailbox, parseMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { Subject } from "../emails/accept/message-input";
import { escapeHtml } from "../templates/fill-template";
import { getTemplate } from "../templates/read";
import { nameCharsMax, TemplateAlias, TemplateSource } from "../templates/template-input";
import { publishTemplate } from "../templates/versions";
import { createTemplate, type NewTemplate, updateTemplate } from "../templates/write";
import { type ConvertedTemplate, convertTemplate } from "./convert-template";
import { readDocuments } from "./documents";
import type { ImportSource } from "./providers";
import type { FoundTemplate } from "./providers/found";
import type { Provider } from "./providers/provider";
import { type ImportReport, openReport } from "./report";

/** A template of the source, and what became of it. */
export type TemplateOutcome = Pick<ConvertedTemplate, "renamed" | "unmapped"> & {
  name: string;
  /** The alias here, by which sends name it. */
  alias: string;
  /** The provider's id. */
  provider_id: string;
  outcome: "created" | "replaced" | "existing" | "skipped";
  status: "published" | "draft" | null;
  /** An existing template has other content: `replace` would overwrite it. */
  differs: boolean;
  reason: string | null;
  /** What was changed or left out, in words. */
  notes: string[];
};

export type TemplateReport = ImportReport & {
  read: number;
  created: number;
  replaced: number;
  existing: number;
  skipped: number;
  templates: TemplateOutcome[];
};

export type TemplateImport = {
  provider: Provider;
  source: ImportSource;
  /** Only the templates of this domain, for a provider that has them per domain. */
  domain?: string | undefined;
  /** Import a template with tags that do not map as a draft. Default: skip it. */
  isDraftAllowed: boolean;
  /** Overwrite an existing template whose content differs. */
  isReplacing: boolean;
  isDryRun: boolean;
};

/**
 * Adds a provider's templates to the team, in Backstamp's syntax. A template is found again by its alias: an
 * existing one is not changed unless `isReplacing`. One with tags that do not map is skipped, or becomes a
 * draft, which no send can use. A dry run writes nothing.
 */
export async function importTemplatesFrom(ctx: Ctx, input: TemplateImport): Promise<TemplateReport> {
  const { provider, source, isDryRun } = input;
  const { report, addProblem } = openReport(provider.name, isDryRun);
  const options = { domain: input.domain ?? null, what: "templates", addProblem };
  const found = completeById(await readDocuments(provider, provider.templates, source, options));
  const layouts = new Map(
    found.flatMap((each) => (each.isLayout ? [[each.alias ?? each.id, each] as const] : [])),
  );
  const templates: TemplateOutcome[] = [];
  const aliases = new Set<string>();
  for (const each of found.filter(({ isLayout }) => !isLayout)) {
    const outcome = await importTemplate(ctx, input, each, layouts, aliases);
    aliases.add(outcome.alias);
    templates.push(outcome);
    if (outcome.reason !== null) addProblem({ name: outcome.name, reason: outcome.reason });
    for (const { field, line, tag, reason } of outcome.unmapped)
      addProblem({ list: field, line, name: outcome.name, reason: `${tag} does not map. ${reason}` });
  }
  const count = (of: TemplateOutcome["outcome"]) => templates.filter(({ outcome }) => outcome === of).length;
  return {
    ...report,
    read: templates.length,
    created: count("created"),
    replaced: count("replaced"),
    existing: count("existing"),
    skipped: count("skipped"),
    templates,
  };
}

/** One entry for each id: an entry of a list has no content, which another document has. */
function completeById(found: readonly FoundTemplate[]): FoundTemplate[] {
  const byId = new Map<string, FoundTemplate>();
  for (const next of found) {
    const before = byId.get(next.id);
    if (before === undefined || (before.html === null && before.text === null)) byId.set(next.id, next);
  }
  return [...byId.values()];
}

async function importTemplate(
  ctx: Ctx,
  { provider, isDraftAllowed, isReplacing, isDryRun }: TemplateImport,
  found: FoundTemplate,
  layouts: ReadonlyMap<string, FoundTemplate>,
  aliases: ReadonlySet<string>,
): Promise<TemplateOutcome> {
  const notes: string[] = [];
  const alias = chooseAlias(provider, found, notes);
  const name =
    found.name
      .replace(/\p{Cc}/gu, " ")
      .trim()
      .slice(0, nameCharsMax) || alias;
  const base: TemplateOutcome = {
    name,
    alias,
    provider_id: found.id,
    outcome: "skipped",
    status: null,
    differs: false,
    reason: null,
    notes,
    renamed: [],
    unmapped: [],
  };
  if (aliases.has(alias))
    return { ...base, reason: `Another template of the source has the alias "${alias}" here.` };
  const laid = applyLayout(found, layouts);
  if (typeof laid === "string") return { ...base, reason: laid };
  if (!laid.html && !laid.text)
    return {
      ...base,
      reason: "The source has its name but not its content. Add the document of this template.",
    };
  const { fields, variables, renamed, unmapped } = convertTemplate(laid, provider.tags, found.fallbacks);
  const shown = { ...base, renamed, unmapped };
  if (unmapped.length > 0 && !isDraftAllowed)
    return { ...shown, reason: `${unmapped.length} tags do not map. Use --drafts to import it as a draft.` };
  const { subject, text } = fields;
  const html = fields.html ?? writeHtml(text ?? "", notes);
  const content: NewTemplate = {
    name,
    alias,
    subject,
    html,
    text,
    variables,
    ...describeSender(found, notes),
  };
  const status = unmapped.length === 0 && found.isPublished ? "published" : "draft";
  try {
    requireValid(Subject, subject ?? "");
    for (const part of [html, text ?? ""]) requireValid(TemplateSource, part);
    const existing = await findExisting(ctx, alias);
    if (existing === null) {
      if (!isDryRun) await createTemplate(ctx, content, status);
      return { ...shown, outcome: "created", status };
    }
    const { version } = existing;
    const { alias: _alias, ...next } = content;
    const differs = Object.entries({ ...version, name: existing.name }).some(
      ([field, value]) => field in next && !isDeepStrictEqual(value, next[field as keyof typeof next]),
    );
    if (!differs || !isReplacing) return { ...shown, outcome: "existing", differs };
    if (!isDryRun) {
      await updateTemplate(ctx, existing.id, next);
      if (status === "published") await publishTemplate(ctx, existing.id);
    }
    return { ...shown, outcome: "replaced", status };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...shown, reason: error.message };
  }
}

/** The name by which sends used it, if it is an alias here; otherwise a name from the provider's id. */
function chooseAlias({ name: provider }: Provider, { alias, id }: FoundTemplate, notes: string[]): string {
  const asAlias = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, "-")
      .replace(/^[-_]+/, "")
      .slice(0, 64);
  const chosen = [asAlias(alias ?? ""), asAlias(`${provider}-${id}`)].find(
    (candidate) => TemplateAlias.safeParse(candidate).success,
  );
  if (alias !== null && chosen !== alias) notes.push(`The alias ${alias} is ${chosen} here.`);
  return chosen ?? provider;
}

const CONTENT = /\{\{\{\s*@content\s*\}\}\}/g;

/** A template with the content of its layout around it; a sentence if the source does not have the layout. */
function applyLayout(
  found: FoundTemplate,
  layouts: ReadonlyMap<string, FoundTemplate>,
): FoundTemplate | string {
  if (found.layout === null) return found;
  const layout = layouts.get(found.layout);
  if (layout === undefined)
    return `Its layout "${found.layout}" is not part of the source. Add its document.`;
  const put = (around: string | null, part: string | null) =>
    around && part ? around.replace(CONTENT, () => part) : part;
  return { ...found, html: put(layout.html, found.html), text: put(layout.text, found.text) };
}

/** A template here needs HTML. That of a text shows the same lines. */
function writeHtml(text: string, notes: string[]): string {
  notes.push("It has only text; the HTML was written from it.");
  const escaped = escapeHtml(text.replace(/\{\{\{([\w.]+)\}\}\}/g, "{{$1}}"));
  return `<div style="white-space: pre-wrap">${escaped}</div>`;
}

function describeSender(
  { sender, replyTo }: FoundTemplate,
  notes: string[],
): Pick<NewTemplate, "sender" | "replyTo"> {
  const read = (given: string): string[] => {
    const parsed = parseMailbox(given);
    if (!parsed.ok) notes.push(`The address ${given.slice(0, 100)} is not imported: ${parsed.fault}`);
    return parsed.ok ? [formatMailbox(parsed.mailbox)] : [];
  };
  const [from = null] = sender === null ? [] : read(sender);
  const replies = replyTo.flatMap(read);
  return { sender: from, replyTo: replies.length === 0 ? null : replies };
}

function requireValid(schema: z.ZodType, field: string): void {
  const { error } = schema.safeParse(field);
  if (error) throw new AppError("invalid", error.issues[0]?.message ?? "It is invalid.");
}

const findExisting = (ctx: Ctx, alias: string) =>
  getTemplate(ctx, alias).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "not_found") return null;
    throw error;
  });
