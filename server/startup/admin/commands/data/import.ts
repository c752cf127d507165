import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { Option } from "commander";
import { LISTS, type List, PROVIDER_NAMES, type ProviderName } from "#server/services/imports/providers";
import { importSuppressionsFrom, type SuppressionReport } from "#server/services/imports/suppressions";
import { OperatorError } from "../../../launcher/operator-error";
import { type AdminCommand, addToAll, examples, runInTeam, TEAM_OPTION } from "../../command";
import type { Output, Terminal } from "../../terminal";

type Options = { from: ProviderName; list?: List; dryRun?: true };

/** `import suppressions`. */
export function addImportCommands(program: AdminCommand): void {
  const group = program
    .command("import")
    .description("brings suppressed addresses over from another provider");
  const suppressions = group
    .command("suppressions")
    .description("adds the addresses of a provider's export file to a team's suppression list")
    .argument("<file>", "CSV file of the provider's console, or JSON of its API; - for standard input")
    .addOption(new Option("--from <provider>", "the provider").choices(PROVIDER_NAMES).makeOptionMandatory())
    .addOption(
      new Option("--list <list>", "the list that the file holds, if its rows do not show it").choices(
        Object.keys(LISTS),
      ),
    )
    .option("--dry-run", "print the report without writing anything")
    .addHelpText(
      ...examples(
        "import suppressions bounces.csv --from sendgrid --list bounces --dry-run",
        "aws sesv2 list-suppressed-destinations | backstamp import suppressions - --from ses",
      ),
    ) as AdminCommand;
  runInTeam(suppressions, async (ctx, team, file: string, { from, list, dryRun }: Options) => {
    const { terminal } = suppressions;
    const report = await importSuppressionsFrom(ctx, {
      from,
      bytes: await openBytes(terminal, file),
      list: list ?? null,
      isDryRun: dryRun === true,
      onRead: (count) => terminal.writeError(`${count.toLocaleString("en")} rows read\n`),
    });
    return reportOutput(team.name, report);
  });
  addToAll(group, TEAM_OPTION);
}

/** Opens the file before anything else happens, so that a wrong path is reported as such. */
async function openBytes(terminal: Terminal, file: string): Promise<AsyncIterable<Uint8Array>> {
  if (file === "-") return toBytes(await terminal.readInput());
  const handle = await open(file).catch((cause: NodeJS.ErrnoException) => {
    throw new OperatorError(`${file} cannot be read (${cause.code ?? cause.message}).`, { cause });
  });
  return createReadStream(file, { fd: handle });
}

async function* toBytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Problems that are printed without `--json`. */
const shownMax = 50;

/** The report as JSON, or its counts and the first problems as text. */
function reportOutput(team: string, report: SuppressionReport): Output {
  const { created, read, existing, repeated, other, skipped, problems } = report;
  const reasons = Object.entries(report.created_by_reason)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${reason} ${count}`);
  const left = problems.length + report.problems_omitted - shownMax;
  return {
    json: { ...report, team },
    text: [
      `${report.dry_run ? "Would add" : "Added"} ${created} of ${read} addresses to team ${team}: ${reasons.join(", ") || "none"}.`,
      `Already there: ${existing}. Repeated: ${repeated}. Other entries: ${other}. Skipped: ${skipped}.`,
      ...problems.slice(0, shownMax).map(({ line, entry, name, reason }) => {
        const place = [`line ${line}`, ...(entry === undefined ? [] : [`entry ${entry}`]), name].filter(
          Boolean,
        );
        return `  ${place.join(", ")}: ${reason}`;
      }),
      ...(left > 0 ? [`  and ${left} more; --json lists up to 1,000`] : []),
    ],
    ...(report.dry_run && { notes: ["Dry run: nothing was written."] }),
  };
}
