import { setTimeout as wait } from "node:timers/promises";
import { isDatabaseUnreachable } from "#db/faults";
import { checkClock, checkDatabase, checkDisk, checkSchema } from "./database";
import { checkDomains, checkResolvers } from "./dns";
import {
  CHECKS,
  type Check,
  checkMsMax,
  type DoctorDeps,
  type Finding,
  type Results,
  type Status,
} from "./finding";
import { checkPorts } from "./ports";
import { checkProxy } from "./proxy";
import { checkReverseDns } from "./reverse-dns";
import { checkSecret } from "./secret";
import { checkSettings } from "./settings";
import { checkSmtp } from "./smtp";
import { checkWorkers } from "./workers";

const RUN: Record<Check, (deps: DoctorDeps) => Promise<Results>> = {
  settings: checkSettings,
  database: checkDatabase,
  schema: checkSchema,
  clock: checkClock,
  disk: checkDisk,
  secret: checkSecret,
  workers: checkWorkers,
  smtp: checkSmtp,
  dns: checkResolvers,
  domains: checkDomains,
  reverse_dns: checkReverseDns,
  ports: checkPorts,
  proxy: checkProxy,
};

const SEVERITY: readonly Status[] = ["not_checked", "ok", "warning", "error"];

/** The findings of all checks, and the most severe status among them. */
export type Report = { status: Exclude<Status, "not_checked">; findings: Finding[] };

/**
 * Checks the installation. The checks run at the same time, each within 20 s, and a check that fails or takes longer does
 * not affect the others. They change nothing and send no email.
 */
export async function runDoctor(deps: DoctorDeps): Promise<Report> {
  const findings = (await Promise.all(CHECKS.map((check) => runCheck(deps, check)))).flat();
  const worst = Math.max(...findings.map(({ status }) => SEVERITY.indexOf(status)));
  const status = SEVERITY[worst];
  return { status: status === "warning" || status === "error" ? status : "ok", findings };
}

async function runCheck(deps: DoctorDeps, check: Check): Promise<Finding[]> {
  const done = new AbortController();
  const late = wait(checkMsMax, [lateResult], { signal: done.signal });
  const results = await Promise.race([RUN[check](deps).catch((error) => [explain(error)]), late]);
  done.abort();
  late.catch(() => {});
  return results.map(({ subject = null, advice = null, status, message }) => ({
    check,
    subject,
    status,
    message: asSentence(message),
    advice,
  }));
}

const lateResult: Results[number] = {
  status: "error",
  message: `The check did not complete within ${checkMsMax / 1_000} s.`,
  advice: "Check the network between this machine and the part that is checked, then run the doctor again.",
};

/** Reasons that a server or the driver wrote have no full stop. */
const asSentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** The database has a check of its own, so its absence is not reported again by each check that needs it. */
function explain(error: unknown): Results[number] {
  if (isDatabaseUnreachable(error))
    return { status: "not_checked", message: "This needs the database, which did not respond." };
  return {
    status: "error",
    message: `The check did not complete: ${error instanceof Error ? error.message : String(error)}`,
    advice: "Run the doctor again. If this repeats, report it with the output of --json.",
  };
}
