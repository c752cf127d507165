import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { importSuppressionsFrom, type SuppressionReport } from "#server/services/suppressions/import/import";
import { LISTS, type List, PROVIDER_NAMES } from "#server/services/suppressions/import/providers";
import { OperatorError } from "../../../launcher/operator-error";
import { asText, wordOf } from "../../arguments";
import { argument, examples, flag, inTeam, option, requiredOption } from "../../command";
import type { Output, Terminal } from "../../terminal";

const listNames = Object.keys(LISTS) as List[];
/** Problems that are printed without `--json`. */
const shownMax = 50;

export const importCommands = {
  suppressions: inTeam({
    about: "adds the addresses of a provider's export file to a team's suppression list",
    params: {
      file: argument("CSV file of the provider's console, or JSON of its API; - for standard input", asText),
      from: requiredOption("provider", PROVIDER_NAMES.join(", "), wordOf(PROVIDER_NAMES)),
      list: option(
        "list",
        `the list that the file holds, if its rows do not show it: ${listNames.join(", ")}`,
        wordOf(listNames),
      ),
      dryRun: flag("print the report without writing anything"),
    },
    help: examples("import suppressions bounces.csv --from sendgrid --list bounces --dry-run"),
    run: async (ctx, { file, from, list = null, dryRun }, team, terminal) => {
      const report = await importSuppressionsFrom(ctx, {
        from,
        bytes: await openBytes(terminal, file),
        list,
        isDryRun: dryRun,
        onRead: (count) => terminal.writeError(`${count.toLocaleString("en")} rows read\n`),
      });
      return reportOutput(team.name, report);
    },
  }),
};

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
        const place = [`line ${line}`, entry && `entry ${entry}`, name].filter(Boolean);
        return `  ${place.join(", ")}: ${reason}`;
      }),
      ...(left > 0 ? [`  and ${left} more; --json lists up to 1,000`] : []),
    ],
    ...(report.dry_run && { notes: ["Dry run: nothing was written."] }),
  };
}
