import { findFault } from "#db/faults";
import { createKeptRead } from "#server/platform/kept-read";
import { checkBackups } from "./backups";
import { checkClock, checkDatabase, checkDisk, checkSchema, findConnectionFault } from "./database";
import { runWithin } from "./each";
import {
  CHECKS,
  type Check,
  checkMsMax,
  type DoctorDeps,
  type Finding,
  NEEDS_DATABASE,
  type Result,
  type Status,
} from "./finding";
import { checkDomains, checkResolvers } from "./network/dns";
import { checkPorts } from "./network/ports";
import { checkProxy } from "./network/proxy";
import { checkReturnPath } from "./network/return-path";
import { checkReverseDns } from "./network/reverse-dns";
import { checkSmtp } from "./network/smtp";
import { checkRateLimits } from "./rate-limits";
import { checkSecret } from "./secret";
import { checkSettings } from "./settings";
import { checkWorkers } from "./workers";

const RUN: Record<Check, (deps: DoctorDeps) => Promise<Result | Result[]>> = {
  settings: checkSettings,
  database: checkDatabase,
  schema: checkSchema,
  clock: checkClock,
  disk: checkDisk,
  backups: checkBackups,
  secret: checkSecret,
  workers: checkWorkers,
  rate_limits: checkRateLimits,
  smtp: checkSmtp,
  dns: checkResolvers,
  domains: checkDomains,
  return_path: checkReturnPath,
  reverse_dns: checkReverseDns,
  ports: checkPorts,
  proxy: checkProxy,
};

const SEVERITY: readonly Status[] = ["not_checked", "ok", "warning", "error"];

/** The findings of all checks, and the most severe status among them. */
export type Report = { status: Exclude<Status, "not_checked">; findings: Finding[] };

/**
 * Checks the installation. The checks run at the same time, each within 20 s, and a check that fails or takes
 * longer does not affect the others. They change nothing and send no email.
 */
export async function runDoctor(deps: DoctorDeps): Promise<Report> {
  const hasDatabase = (await findConnectionFault(deps)) === null;
  const findings = (await Promise.all(CHECKS.map((check) => runCheck(deps, check, hasDatabase)))).flat();
  const worst = Math.max(...findings.map(({ status }) => SEVERITY.indexOf(status)));
  const status = SEVERITY[worst];
  return { status: status === "warning" || status === "error" ? status : "ok", findings };
}

/** A report with the time at which it was complete. */
export type Examination = Report & { at: Date };

/**
 * Calls within this time after a report receive the same one: its checks query name servers and connect to
 * relays.
 */
const keptMs = 30_000;

/**
 * The doctor for callers of the console. A process runs it at most once at a time, and its report is used for
 * 30 s.
 */
export const createExamination = (run: () => Promise<Report>, clock: () => Date) =>
  createKeptRead(
    async (): Promise<Examination> => ({ ...(await run()), at: clock() }),
    keptMs,
    () => clock().getTime(),
  );

/** The findings with the most severe ones first, as the console lists them. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  const order: readonly Status[] = ["error", "warning", "ok", "not_checked"];
  return [...findings].sort((one, other) => order.indexOf(one.status) - order.indexOf(other.status));
}

async function runCheck(deps: DoctorDeps, check: Check, hasDatabase: boolean): Promise<Finding[]> {
  const results = await runWithin<Result | Result[]>(checkMsMax, () => RUN[check](deps), {
    late: {
      status: "error",
      message: `The check did not complete within ${checkMsMax / 1_000} s.`,
      advice:
        "Check the network between this machine and the part that is checked, then run the doctor again.",
    },
    onFault: (error) => explain(error, hasDatabase),
  });
  return [results].flat().map(({ subject = null, advice = null, status, message }) => ({
    check,
    subject,
    status,
    message: asSentence(message),
    advice,
  }));
}

/** Reasons that a server or the driver wrote have no full stop. */
const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** The database has a check of its own, so its fault is not reported again by each check that needs it. */
function explain(error: unknown, hasDatabase: boolean): Result {
  if (!hasDatabase && findFault(error) !== null) return NEEDS_DATABASE;
  // Drizzle's message is the statement with its parameters.
  const root = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return {
    status: "error",
    message: `The check did not complete: ${root instanceof Error ? root.message : String(root)}`,
    advice: "Run the doctor again. If this repeats, report it with the output of --json.",
  };
}
