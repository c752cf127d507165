import { readSettings, type Settings, SettingsError } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import { CHECKS, type Finding } from "#server/services/doctor/finding";
import { type Report, runDoctor } from "#server/services/doctor/run";
import { SETTINGS_ADVICE } from "#server/services/doctor/settings";
import { learnActiveSecret } from "#server/services/secrets/registry";
import { buildDeps } from "../../../deps";
import { createDoctorDeps } from "../../../doctor-deps";
import type { Holder } from "../../../launcher/lock";
import { OperatorError } from "../../../launcher/operator-error";
import { CommandExit, command } from "../../command";
import { findLauncher, modeOf, withKeptSecret } from "../../session";
import { type Output, printOutput, type Terminal } from "../../terminal";

/** The exit code of `doctor` by the most severe finding. */
const EXIT_CODES = { ok: 0, warning: 1, error: 2 } as const;
/** No database responds here. */
const NO_DATABASE = "postgres://backstamp@127.0.0.1:1/none";
const connectionsMax = 4;

export const doctor = command({
  params: {},
  help: `
Run it where Backstamp runs, with the same settings. It changes nothing, so it does not start the embedded database: for the
checks that need it, start Backstamp first. Exit codes: 0 no fault, 1 warnings, 2 errors.`,
  run: async (terminal, _values, isJson) => {
    const report = await examine(terminal).catch((cause: unknown) => {
      throw new CommandExit(EXIT_CODES.error, { cause });
    });
    printOutput(terminal, outputOf(report), isJson);
    const code = EXIT_CODES[report.status];
    if (code !== 0) throw new CommandExit(code);
  },
});

async function examine({ env }: Terminal): Promise<Report> {
  const lenient = readOrFault(env, "dev");
  if ("fault" in lenient) return reportInvalidSettings(lenient.fault);
  const database = await findDatabase(lenient);
  // Those of the running Backstamp: `npm run dev` needs less than production.
  const mode = modeOf(env, database.launcher);
  const strict = readOrFault(env, mode);
  const isValid = !("fault" in strict);
  const settings = await withKeptSecret(isValid ? strict : { ...lenient, mode });
  const built = buildDeps(
    { ...settings, url: database.publicUrl ?? settings.url, databaseUrl: database.url },
    { log: silentLog, applicationName: "backstamp command line", connectionsMax },
  );
  const hasSecret = settings.secret !== null;
  try {
    // A missing database or schema has a check of its own.
    if (hasSecret) await learnActiveSecret(built.deps).catch(() => {});
    const settingsFault = isValid ? null : strict.fault;
    const facts = { publicUrl: database.publicUrl, hasSecret, settingsFault, databaseFault: database.fault };
    return await runDoctor(createDoctorDeps({ deps: built.deps, settings, ...facts }));
  } finally {
    await built.close();
  }
}

/** The settings, or what is wrong with them in this mode. */
function readOrFault(env: Terminal["env"], mode: Settings["mode"]): Settings | { fault: string } {
  try {
    return readSettings(env, mode);
  } catch (error) {
    if (error instanceof SettingsError) return { fault: error.message };
    throw error;
  }
}

type FoundDatabase = {
  url: string;
  publicUrl: string | null;
  fault: string | null;
  launcher: Holder | null;
};

/**
 * The configured database, or that of the running Backstamp. The embedded one is not started: that could
 * create or migrate it.
 */
async function findDatabase({ databaseUrl, dataDir, givenUrl, url }: Settings): Promise<FoundDatabase> {
  if (databaseUrl !== null) return { url: databaseUrl, publicUrl: givenUrl, fault: null, launcher: null };
  const none = { url: NO_DATABASE, publicUrl: givenUrl, launcher: null };
  try {
    const launcher = await findLauncher(dataDir);
    if (launcher)
      return { url: launcher.databaseUrl, publicUrl: launcher.publicUrl ?? url, fault: null, launcher };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { ...none, fault: error.message };
  }
  const fault = `Backstamp is not running with the data directory ${dataDir}, so its embedded database is stopped.`;
  return { ...none, fault };
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
  const summary = `Errors: ${count("error")}. Warnings: ${count("warning")}. Ok: ${count("ok")}. Not checked: ${count("not_checked")}.`;
  return { json: report, text: [...lines, "", summary] };
}
