import { readFile } from "node:fs/promises";
import type { Deps } from "#server/deps";
import { isRelay } from "#server/mail/transport/relay";
import { readDiskSpace } from "#server/platform/disk";
import { readSettings, type Settings, SettingsError } from "#server/platform/env/settings";
import { silentLog } from "#server/platform/log";
import type { DoctorDeps } from "#server/services/doctor/finding";
import { type Report, runDoctor } from "#server/services/doctor/run";
import { buildDeps, transportKindOf } from "../../../deps";
import { findClusterHome } from "../../../postgres/cluster-location";
import { openTransport, timeoutsOf } from "../../../worker";
import { type AdminCommand, CommandExit } from "../../command";
import { withDatabase, withKeptSecret } from "../../session";
import { type Output, printOutput, type Terminal } from "../../terminal";

/** The exit code of `doctor` by the most severe finding. */
const EXIT_CODES = { ok: 0, warning: 1, error: 2 } as const;

/** `doctor`. */
export function addDoctorCommand(program: AdminCommand): void {
  program
    .command("doctor")
    .description("checks the installation and its surroundings, and says what to do about each fault")
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", HELP)
    .action(async ({ json = false }: { json?: boolean }) => {
      const { terminal } = program;
      const report = await examine(terminal);
      printOutput(terminal, outputOf(report), json);
      const code = EXIT_CODES[report.status];
      if (code !== 0) throw new CommandExit(code);
    });
}

const HELP = `
It checks settings, database, schema, clock, disk, secret, workers, relays (connection and login, no email is sent), name
servers, the records of the domains, PTR records, SMTP ports with their certificate, and reverse proxies. Run it where
Backstamp runs, with the same settings. It changes nothing.

Exit codes: 0 no fault, 1 warnings, 2 errors.`;

async function examine(terminal: Terminal): Promise<Report> {
  const { settings, fault } = readProductionSettings(terminal.env);
  let isOpen = false;
  try {
    return await withDatabase(terminal, async ({ deps, publicUrl }) => {
      isOpen = true;
      const hasSecret = (await withKeptSecret(settings)).secret !== null;
      const facts = { publicUrl, hasSecret, settingsFault: fault, databaseFault: null };
      return runDoctor(createDoctorDeps({ deps, settings, ...facts }));
    });
  } catch (error) {
    if (isOpen || !(error instanceof Error)) throw error;
    return examineWithoutDatabase(settings, fault, error.message);
  }
}

/** The embedded database could not be started. Everything else is checked all the same. */
async function examineWithoutDatabase(
  settings: Settings,
  settingsFault: string | null,
  databaseFault: string,
): Promise<Report> {
  const kept = await withKeptSecret(settings);
  const built = buildDeps(
    { ...kept, databaseUrl: "postgres://backstamp@127.0.0.1:1/none" },
    { log: silentLog },
  );
  try {
    const facts = {
      publicUrl: settings.givenUrl,
      hasSecret: kept.secret !== null,
      settingsFault,
      databaseFault,
    };
    return await runDoctor(createDoctorDeps({ deps: built.deps, settings, ...facts }));
  } finally {
    await built.close();
  }
}

/** The settings of production, or those that are valid in any mode, with what is missing for production. */
function readProductionSettings(env: Terminal["env"]): { settings: Settings; fault: string | null } {
  const mode = env.NODE_ENV === "development" ? "dev" : "start";
  try {
    return { settings: readSettings(env, mode), fault: null };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { settings: readSettings(env, "dev"), fault: error.message };
  }
}

type Opened = Pick<DoctorDeps, "settingsFault" | "databaseFault" | "publicUrl" | "hasSecret"> & {
  deps: Deps;
  settings: Settings;
};

function createDoctorDeps({ deps, settings, ...facts }: Opened): DoctorDeps {
  const { smtpUrl, hostname, mxPort, trustedHops, inboundPort, host, submission, dataDir } = settings;
  const transport = openTransport(settings, deps);
  const { port, securePort, certificateFiles } = submission;
  const listenerOf = (setting: string, on: string, number: number | null, isImplicitTls = false) =>
    number === null || number === 0 ? [] : [{ setting, host: on, port: number, isImplicitTls }];
  return {
    ...deps,
    ...facts,
    transportKind: transportKindOf(smtpUrl),
    smtpUrlRelay: isRelay(transport) ? transport : null,
    relayTimeouts: timeoutsOf(settings),
    ehloName: hostname,
    mxPort,
    trustedHops,
    listeners: [
      ...listenerOf("BACKSTAMP_INBOUND_PORT", host, inboundPort),
      ...listenerOf("BACKSTAMP_SMTP_PORT", submission.host, port),
      ...listenerOf("BACKSTAMP_SMTPS_PORT", submission.host, securePort, true),
    ],
    readCertificate: certificateFiles && (() => readFile(certificateFiles.cert, "utf8")),
    ...(settings.databaseUrl === null && {
      readDisk: async () => readDiskSpace(await findClusterHome(dataDir)),
    }),
    fetchOwn: async (url, signal) => {
      const response = await fetch(url, { signal, redirect: "manual" });
      return { status: response.status, body: await response.json().catch(() => null) };
    },
  };
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
