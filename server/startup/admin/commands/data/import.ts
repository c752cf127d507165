import { createReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { Option } from "commander";
import type { Ctx } from "#server/deps";
import { type DomainOutcome, importDomainsFrom } from "#server/services/imports/domains";
import { type ImportSource, openApi, PROVIDERS, REGIONS } from "#server/services/imports/providers";
import {
  type Imported,
  LISTS,
  type List,
  PROVIDER_NAMES,
  type ProviderName,
} from "#server/services/imports/providers/provider";
import type { ImportReport } from "#server/services/imports/report";
import { importSuppressionsFrom } from "#server/services/imports/suppressions";
import { importTemplatesFrom, type TemplateOutcome } from "#server/services/imports/templates";
import { OperatorError } from "../../../launcher/operator-error";
import { readDomain } from "../../arguments";
import { type AdminCommand, addToAll, examples, runInTeam, TEAM_OPTION } from "../../command";
import { formatTable, type Output, type Terminal } from "../../terminal";

type Options = {
  from: ProviderName;
  dryRun?: true;
  apiKeyFile?: string;
  apiUrl?: string;
  region: (typeof REGIONS)[number];
  domain?: string;
};

/** `import suppressions`, `import templates`, `import domains`. */
export function addImportCommands(program: AdminCommand): void {
  const group = program
    .command("import")
    .description("brings suppressions, templates and domains over from another provider");

  const suppressions = addImport(
    group,
    "suppressions",
    "adds a provider's suppressed addresses to a team's list",
  )
    .addOption(
      new Option("--list <list>", "the list that the file holds, if its rows do not show it").choices(
        Object.keys(LISTS),
      ),
    )
    .option("--domain <domain>", "only the lists of this domain (Mailgun's API; default: all)", readDomain)
    .addHelpText(
      ...examples(
        "import suppressions bounces.csv --from sendgrid --list bounces --dry-run",
        "import suppressions --from postmark --api-key-file key.txt",
        "aws sesv2 list-suppressed-destinations | backstamp import suppressions - --from ses",
      ),
    );
  runInTeam(suppressions, async (ctx, team, file: string | undefined, options: Options & { list?: List }) => {
    const provider = PROVIDERS[options.from];
    const { terminal } = suppressions;
    const report = await importSuppressionsFrom(ctx, {
      provider,
      source: await openSource(terminal, ctx, "suppressions", file, options),
      list: options.list,
      domain: options.domain,
      isDryRun: options.dryRun === true,
      onRead: (count) => terminal.writeError(`${count.toLocaleString("en")} rows read\n`),
    });
    const { created_by_reason: byReason, ...counts } = report;
    return reportOutput(team.name, report, [
      `${would(report, "Added", "Would add")} ${counts.created} of ${counts.read} addresses to team ${team.name}: ${
        Object.entries(byReason)
          .filter(([, count]) => count > 0)
          .map(([reason, count]) => `${reason} ${count}`)
          .join(", ") || "none"
      }.`,
      `Already there: ${counts.existing}. Repeated: ${counts.repeated}. Other entries: ${counts.other}. Skipped: ${counts.skipped}.`,
    ]);
  });

  const templates = addImport(
    group,
    "templates",
    "adds a provider's templates to a team, in the syntax of Backstamp",
  )
    .option(
      "--domain <domain>",
      "only the templates of this domain (Mailgun's API; default: all)",
      readDomain,
    )
    .option("--drafts", "import templates with tags that do not map as drafts (default: skip them)")
    .option("--replace", "overwrite templates of the same alias whose content differs")
    .addHelpText(
      ...examples(
        "import templates --from resend --api-key-file key.txt --dry-run",
        "import templates templates.json --from ses --drafts",
      ),
    );
  type TemplateOptions = Options & { drafts?: true; replace?: true };
  runInTeam(templates, async (ctx, team, file: string | undefined, options: TemplateOptions) => {
    const report = await importTemplatesFrom(ctx, {
      provider: PROVIDERS[options.from],
      source: await openSource(templates.terminal, ctx, "templates", file, options),
      domain: options.domain,
      isDraftAllowed: options.drafts === true,
      isReplacing: options.replace === true,
      isDryRun: options.dryRun === true,
    });
    const { created, replaced, existing, skipped } = report;
    return reportOutput(team.name, report, [
      `${would(report, "Added", "Would add")} ${created} of ${report.read} templates to team ${team.name}.`,
      `Replaced: ${replaced}. Already there: ${existing}. Skipped: ${skipped}.`,
      ...report.templates.flatMap(describeTemplate),
    ]);
  });

  const domains = addImport(
    group,
    "domains",
    "adds a provider's domains to a team and prints the DNS records to publish",
  ).addHelpText(
    ...examples(
      "import domains --from mailgun --region eu --api-key-file key.txt --dry-run",
      "import domains domains.json --from sendgrid",
    ),
  );
  runInTeam(domains, async (ctx, team, file: string | undefined, options: Options) => {
    const report = await importDomainsFrom(ctx, {
      provider: PROVIDERS[options.from],
      source: await openSource(domains.terminal, ctx, "domains", file, options),
      isDryRun: options.dryRun === true,
    });
    return reportOutput(team.name, report, [
      `${would(report, "Added", "Would add")} ${report.created} of ${report.read} domains to team ${team.name}.`,
      `Already there: ${report.existing}. Skipped: ${report.skipped}.`,
      ...report.domains.flatMap(describeDomain),
    ]);
  });

  addToAll(group, TEAM_OPTION);
}

/** An import with the argument and the options that all imports have. */
function addImport(group: AdminCommand, what: Imported, description: string): AdminCommand {
  const command = group
    .command(what)
    .description(description)
    .argument(
      "[file]",
      "export file of the provider, or a recorded response of its API; - for standard input",
    )
    .addOption(new Option("--from <provider>", "the provider").choices(PROVIDER_NAMES).makeOptionMandatory())
    .option("--dry-run", "print the report without writing anything")
    .option(
      "--api-key-file <path>",
      "without a file, read the provider's API with the key in this file (default: RESEND_API_KEY, SENDGRID_API_KEY, POSTMARK_API_KEY or MAILGUN_API_KEY, or a prompt)",
    )
    .addOption(new Option("--region <region>", "region of the provider's API").choices(REGIONS).default("us"))
    .addOption(new Option("--api-url <url>", "for tests: the URL of the provider's API").hideHelp());
  return command as AdminCommand;
}

/**
 * The file of the command line, or else the provider's API with the key from a file, the environment or a
 * prompt.
 */
async function openSource(
  terminal: Terminal,
  ctx: Ctx,
  what: Imported,
  file: string | undefined,
  { from, apiKeyFile, apiUrl, region }: Options,
): Promise<ImportSource> {
  if (file === "-") return { bytes: toBytes(await terminal.readInput()) };
  if (file !== undefined) return { bytes: await readBytes(file) };
  const provider = PROVIDERS[from];
  const variable = `${from.toUpperCase()}_API_KEY`;
  const key =
    provider.api === null
      ? ""
      : apiKeyFile !== undefined
        ? await readFile(apiKeyFile, "utf8").catch(explainPath(apiKeyFile))
        : (terminal.env[variable] ?? (await terminal.askSecret?.(`API key of ${provider.label}: `)) ?? "");
  if (provider.api !== null && key.trim() === "")
    throw new OperatorError(
      `Name an export file of ${provider.label}, or set its API key: --api-key-file PATH, or ${variable} in the environment.`,
    );
  return openApi(ctx, provider, what, { key: key.trim(), region, baseUrl: apiUrl, wait: (ms) => wait(ms) });
}

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Opens the file before anything else happens, so that a wrong path is reported as such. */
async function readBytes(path: string): Promise<AsyncIterable<Uint8Array>> {
  const handle = await open(path).catch(explainPath(path));
  return createReadStream(path, { fd: handle });
}

const explainPath =
  (path: string) =>
  (cause: NodeJS.ErrnoException): never => {
    throw new OperatorError(`${path} cannot be read (${cause.code ?? cause.message}).`, { cause });
  };

const would = ({ dry_run }: ImportReport, done: string, planned: string) => (dry_run ? planned : done);

/** What became of a template, and what its senders must know. */
function describeTemplate({
  name,
  alias,
  outcome,
  status,
  differs,
  renamed,
  notes,
}: TemplateOutcome): string[] {
  if (outcome === "skipped") return [];
  const state = differs ? "already there with other content; --replace overwrites it" : "already there";
  return [
    `  ${name}: ${outcome === "existing" ? state : `${outcome}, ${status}`}, alias ${alias}`,
    ...renamed.map(({ from, to }) => `    The variable ${from} is ${to} here.`),
    ...notes.map((note) => `    ${note}`),
  ];
}

/** What became of a domain, what is not mapped, and the records to publish for a new one. */
function describeDomain({ name, outcome, records, not_mapped, ...kept }: DomainOutcome): string[] {
  if (outcome === "skipped") return [];
  const names = [
    ...(kept.custom_return_path === null ? [] : [`return path ${kept.custom_return_path}`]),
    ...(kept.tracking_subdomain === null ? [] : [`tracking ${kept.tracking_subdomain}`]),
  ];
  return [
    "",
    `${name}: ${outcome === "existing" ? "already there, not changed" : ["new, not verified", ...names].join(", ")}`,
    ...(not_mapped.length === 0 ? [] : [`  Not mapped: ${not_mapped.join("; ")}`]),
    ...formatTable(records.map(({ type, host, value, priority }) => ({ type, host, priority, value }))).map(
      (line) => `  ${line}`,
    ),
    ...(records.length === 0 ? [] : [`  After publishing them: domain show ${name} --look`]),
  ];
}

/** Problems that are printed without `--json`. */
const shownMax = 50;

/** The report as JSON, or its counts and the first problems as text. */
function reportOutput(team: string, report: ImportReport, lines: string[]): Output {
  const { problems, problems_omitted } = report;
  const left = problems.length + problems_omitted - shownMax;
  return {
    json: { ...report, team },
    text: [
      ...lines,
      ...problems.slice(0, shownMax).map(({ line, entry, list, name, reason }) => {
        const place = [
          ...(list === undefined ? [] : [list]),
          ...(line === undefined ? [] : [`line ${line}`]),
          ...(entry === undefined ? [] : [`entry ${entry}`]),
        ].join(", ");
        return `  ${place}${name === null ? "" : `${place === "" ? "" : ", "}${name}`}: ${reason}`;
      }),
      ...(left > 0 ? [`  and ${left} more; --json lists up to 1,000`] : []),
    ],
    ...(report.dry_run && { notes: ["Dry run: nothing was written."] }),
  };
}
