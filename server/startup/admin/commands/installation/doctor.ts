import { readSettings, type Settings, SettingsError } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import { CHECKS, type Finding } from "#server/services/doctor/finding";
import { type Report, runDoctor } from "#server/services/doctor/run";
import { SETTINGS_ADVICE } from "#server/services/doctor/settings";
import { readActiveSecret } from "#server/services/secrets/registry";
import { buildDeps } from "../../../deps";
import { createDoctorDeps } from "../../../doctor-deps";
import { OperatorError } from "../../../launcher/operator-error";
import { type AdminCommand, CommandExit } from "../../command";
import { findLauncher, modeOf, withKeptSecret } from "../../session";
import { type Output, printOutput, type Terminal } from "../../terminal";

/** The exit code of `doctor` by the most severe finding. */
const EXIT_CODES = { ok: 0, warning: 1, error: 2 } as const;
/** No database responds here. */
const NO_DATABASE = "postgres://backstamp@127.0.0.1:1/none";
const connectionsMax = 4;

/** `doctor`. */
export function addDoctorCommand(program: AdminCommand): void {
  program
    .command("doctor")
    .description("checks the installation and its surroundings, and says what to do about each fault")
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", HELP)
    .action(async ({ json = false }: { json?: boolean }) => {
      const { terminal } = program;
      const report = await examine(terminal).catch((cause: unknown) => {
        throw new CommandExit(EXIT_CODES.error, { cause });
      });
      printOutput(terminal, outputOf(report), json);
      const code = EXIT_CODES[report.status];
      if (code !== 0) throw new CommandExit(code);
    });
}

const HELP = `
It checks settings, database, schema, clock, disk, backups, secret, workers, relays (connection and login, no email is
sent), name servers, the records of the domains, PTR records, SMTP ports with their certificate, and reverse proxies. Run
it where Backstamp runs, with the same settings. It changes nothing, so it does not start the embedded database: for the
checks that need it, start Backstamp first.

Exit codes: 0 no fault, 1 warnings, 2 errors.`;

async function examine(terminal: Terminal): Promise<Report> {
  const read = readProductionSettings(terminal.env);
  if (read.settings === null) return reportInvalidSettings(read.fault);
  const settings = await withKeptSecret(read.settings);
  const database = await findDatabase(settings);
  const built = buildDeps(
    { ...settings, url: database.publicUrl ?? settings.url, databaseUrl: database.url },
    { log: silentLog, applicationName: "backstamp command line", connectionsMax },
  );
  const hasSecret = settings.secret !== null;
  try {
    // A missing database or schema has a check of its own.
    if (hasSecret) await readActiveSecret(built.deps).catch(() => {});
    const facts = { publicUrl: database.publicUrl, hasSecret, settingsFault: read.fault };
    return await runDoctor(
      createDoctorDeps({ deps: built.deps, settings, ...facts, databaseFault: database.fault }),
    );
  } finally {
    await built.close();
  }
}

type FoundDatabase = { url: string; publicUrl: string | null; fault: string | null };

/**
 * The configured database, or that of the running Backstamp. The embedded one is not started: that could
 * create or migrate it.
 */
async function findDatabase({ databaseUrl, dataDir, givenUrl, url }: Settings): Promise<FoundDatabase> {
  if (databaseUrl !== null) return { url: databaseUrl, publicUrl: givenUrl, fault: null };
  try {
    const launcher = await findLauncher(dataDir);
    if (launcher) return { url: launcher.databaseUrl, publicUrl: launcher.publicUrl ?? url, fault: null };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { url: NO_DATABASE, publicUrl: givenUrl, fault: error.message };
  }
  const fault = `Backstamp is not running with the data directory ${dataDir}, so its embedded database is stopped.`;
  return { url: NO_DATABASE, publicUrl: givenUrl, fault };
}

type ReadSettings = { settings: Settings; fault: string | null } | { settings: null; fault: string };

/**
 * The settings of production, or those that are valid in any mode, with what is missing for production. Null
 * if they are not valid in any mode.
 */
function readProductionSettings(env: Terminal["env"]): ReadSettings {
  const mode = modeOf(env, null);
  let fault: string | null = null;
  for (const tried of [mode, "dev"] as const) {
    try {
      return { settings: { ...readSettings(env, tried), mode }, fault };
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      fault ??= error.message;
    }
  }
  return { settings: null, fault: fault ?? "" };
}

/** Every other check needs settings. */
function reportInvalidSettings(fault: string): Report {
  const findings = CHECKS.map((check): Finding => {
    if (check !== "settings")
      return {
        check,
        subject: null,
        status: "not_checked",
        message: "This needs valid settings.",
        advice: null,
      };
    return { check, subject: null, status: "error", message: fault, advice: SETTINGS_ADVICE };
  });
  return { status: "error", findings };
}

const MARKS = { ok: "ok", warning: "WARNING", error: "ERROR", not_checked: "not checked" } as const;

function outputOf(report: Report): Output {
  const lines = report.findings.flatMap(({ check, subject, status, message, advice }) => [
    `${MARKS[status].padEnd(11)}  ${check.replaceAll("_", " ").padEnd(11)}  ${subject === null ? "" : `${subject}: `}${message}`,
    ...(advice === null ? [] : [`${" ".repeat(26)}To do: ${advice}`]),
  ]);
  const count = (wanted: keyof typeof MARKS) =>
    report.findings.filter(({ status }) => status === wanted).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const summary =
    `${errors} ${errors === 1 ? "error" : "errors"}, ${warnings} ${warnings === 1 ? "warning" : "warnings"}, ` +
    `${count("ok")} ok, ${count("not_checked")} not checked.`;
  return { json: report, text: [...lines, "", summary] };
}
