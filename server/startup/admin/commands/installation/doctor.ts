import { readSettings, type Settings, SettingsError } from "#server/platform/env/settings";
import { CHECKS, type Finding } from "#server/services/doctor/finding";
import { type Report, runDoctor } from "#server/services/doctor/run";
import { SETTINGS_ADVICE } from "#server/services/doctor/settings";
import { learnActiveSecret } from "#server/services/secrets/registry";
import { createDoctorDeps } from "../../../doctor-deps";
import { OperatorError } from "../../../launcher/operator-error";
import { CommandExit, command } from "../../command";
import {
  type Closers,
  connect,
  type FoundDatabase,
  findDatabase,
  modeOf,
  withKeptSecret,
} from "../../connection";
import type { Output, Terminal } from "../../terminal";

/** The exit code of `doctor` by the most severe finding. */
const EXIT_CODES = { ok: 0, warning: 1, error: 2 } as const;
/** No database responds here. */
const NO_DATABASE = "postgres://backstamp@127.0.0.1:1/none";

export const doctor = command({
  help: `
Run it where Backstamp runs, with the same settings. It changes nothing, so it does not start the embedded database: for the
checks that need it, start Backstamp first. Exit codes: 0 no fault, 1 warnings, 2 errors.`,
  run: (terminal) =>
    examine(terminal).then(outputOf, (cause: unknown) => {
      throw new CommandExit(EXIT_CODES.error, { cause });
    }),
});

async function examine({ env }: Terminal): Promise<Report> {
  const lenient = readOrFault(env, "dev");
  if ("fault" in lenient) return reportInvalidSettings(lenient.fault);
  const { databaseFault, ...database } = await findRunning(lenient, env);
  const strict = readOrFault(env, database.mode);
  const [valid, settingsFault] = "fault" in strict ? [lenient, strict.fault] : [strict, null];
  const closers: Closers = [];
  const settings = { ...(await withKeptSecret(valid)), mode: database.mode };
  const { deps, publicUrl, hasSecret } = connect(settings, database, closers);
  try {
    // A missing database or schema has a check of its own.
    if (hasSecret) await learnActiveSecret(deps).catch(() => {});
    const facts = { publicUrl, hasSecret, settingsFault, databaseFault };
    return await runDoctor(createDoctorDeps({ deps, settings, ...facts }));
  } finally {
    for (const close of closers) await close();
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

/**
 * The database of a command, or why there is none. The embedded one is not started: that could create or
 * migrate it.
 */
async function findRunning(
  settings: Settings,
  env: Terminal["env"],
): Promise<FoundDatabase & { databaseFault: string | null }> {
  const stopped = `Backstamp is not running with the data directory ${settings.dataDir}, so its embedded database is stopped.`;
  const found = await findDatabase(settings, env).catch((error: unknown) => {
    if (error instanceof OperatorError) return error.message;
    throw error;
  });
  if (found && typeof found !== "string") return { ...found, databaseFault: null };
  const { givenUrl: publicUrl } = settings;
  return { databaseUrl: NO_DATABASE, publicUrl, mode: modeOf(env), databaseFault: found ?? stopped };
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
  return { json: report, text: [...lines, "", summary], exitCode: EXIT_CODES[report.status] };
}
