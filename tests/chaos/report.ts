import type { NotRun } from "./fault";
import { type Counts, type Finding, INVARIANTS, sumOf, type Verdict } from "./judge";
import { type Records, STAGES, VICTIMS } from "./records";
import type { Done } from "./run";

const findingsShownMax = 20;

/** The result of a run over all its rigs. */
export type Outcome = {
  seed: string;
  commit: string;
  minutes: number;
  done: Done[];
  counts: Verdict["counts"];
  findings: Finding[];
  records: Records[];
  notRun: readonly NotRun[];
  violations: { seen: number; injected: number; missed: string[] };
};

/** The findings, for a terminal; empty without findings. */
export function describeFindings(findings: readonly Finding[]): string[] {
  if (findings.length === 0) return [];
  const shown = findings.slice(0, findingsShownMax).map(({ invariant, what }) => `  ${invariant}  ${what}`);
  const broken = [...new Set(findings.map(({ invariant }) => invariant))].sort();
  return [
    `${findings.length} findings:`,
    ...shown,
    ...(findings.length > shown.length ? [`  and ${findings.length - shown.length} more`] : []),
    ...broken.map((name) => `  ${name} is: ${INVARIANTS[name]}.`),
  ];
}

/** The two tables and the totals, in Markdown. */
export function renderMarkdown(outcome: Outcome): string {
  const { seed, commit, minutes, done, counts, records, notRun, violations } = outcome;
  const sum = sumOf(counts.values());
  const kills = killsIn(records);
  const killsOf = (victim: string, at?: string) =>
    kills.filter(({ who, stage }) => who.startsWith(victim) && (at === undefined || stage === at)).length;
  const killed = kills.length;
  const ticks = killed - VICTIMS.reduce((n, victim) => n + killsOf(victim), 0);
  const deliveredWebhooks = records.reduce((n, { hooks }) => n + hooks.deliveredWebhooks, 0);
  return [
    `Commit ${commit}, seed ${seed}, ${minutes.toFixed(1)} minutes, two web processes and two workers:`,
    "",
    "| fault | times | accepted | lost | duplicated | unknown recorded |",
    "|---|---|---|---|---|---|",
    ...done.map(({ fault, times }) => rowOf(fault.row, times, counts.get(fault.name))),
    ...notRun.map(({ row, reason }) => `| ${row} | NOT RUN: ${reason} | | | | |`),
    `| **total** | | **${figure(sum.accepted)}** | **${sum.lost}** | **${sum.copiesUnrecorded}**, and ${figure(sum.copiesRecorded)} with their own unknown | **${figure(sum.unknowns)}** |`,
    "",
    `${killed} times \`kill -9\` (some at a random moment):`,
    "",
    `| email was | ${VICTIMS.join(" | ")} | total |`,
    "|---|---|---|---|---|",
    ...STAGES.map(
      (stage) =>
        `| ${stage} | ${VICTIMS.map((victim) => killsOf(victim, stage)).join(" | ")} | ${killsOf("", stage)} |`,
    ),
    `| kills | ${VICTIMS.map((victim) => killsOf(victim)).join(" | ")} | ${killed - ticks} |`,
    "",
    ...(ticks > 0 ? [`The other ${ticks} kills hit a serverless function, which has no column.`, ""] : []),
    `${figure(sum.accepted)} of ${figure(sum.posted)} emails got 2xx, ${figure(sum.refused)} were rejected as expected, ${figure(sum.repeated)} requests were repeated or duplicated under their key; ` +
      `${figure(sum.unreceived)} reached no process, because both were down; ${figure(sum.inDoubt)} without a key and without a 2xx, of which ${figure(sum.inDoubtKept)} were committed and delivered; ` +
      `${figure(sum.delivered)} recipients reached, ${figure(sum.refusedThere)} rejected by their servers and reported; ${figure(deliveredWebhooks)} event deliveries succeeded; ` +
      `${figure(sum.copiesRecorded)} duplicates with their own \`email.unknown\`, **${sum.copiesUnrecorded} without one, ${sum.lost} recipients lost**. ` +
      describeRestored(records) +
      `At most ${slowestReturnMs(records)} ms from the restart of PostgreSQL to the next accepted email. The judge detected ${violations.seen} of ${violations.injected} injected violations.`,
  ].join("\n");
}

function rowOf(row: string, times: number, counts: Counts | undefined): string {
  if (!counts) return `| ${row} | ${figure(times)} | 0 | 0 | 0 | 0 |`;
  const { accepted, lost, copiesUnrecorded, copiesRecorded, unknowns } = counts;
  const doubled =
    copiesRecorded > 0
      ? `${copiesUnrecorded} (+${copiesRecorded} with their own unknown)`
      : `${copiesUnrecorded}`;
  return `| ${row} | ${figure(times)} | ${figure(accepted)} | ${lost} | ${doubled} | ${figure(unknowns)} |`;
}

export const killsIn = (all: readonly Records[]) =>
  all.flatMap(({ disturbances }) => disturbances).filter(({ what }) => what === "kill");

/** What restored installations held and sent; empty without one. */
function describeRestored(all: readonly Records[]): string {
  const restored = all.flatMap((records) => records.restored);
  if (restored.length === 0) return "";
  const each = restored.map(({ decisions, held, released }) => {
    const options = decisions.map((options) => `release ${options}`).join(", ");
    return `${held.length} held, ${released.length} sent again by \`${options}\``;
  });
  return `Restored installations: ${each.join("; ")}. `;
}

const figure = (count: number): string => count.toLocaleString("en");

function slowestReturnMs(all: readonly Records[]): number {
  const returns = all.flatMap(({ disturbances, calls }) => {
    const acceptedAtMs = calls
      .flatMap(({ tries }) => tries)
      .flatMap(({ id, endedAtMs }) => (id === null ? [] : [endedAtMs]))
      .sort((a, b) => a - b);
    const rowEndMs = new Map<string, number>();
    for (const { row, tries } of calls)
      for (const { endedAtMs } of tries) rowEndMs.set(row, Math.max(rowEndMs.get(row) ?? 0, endedAtMs));
    return disturbances.flatMap(({ row, what, who, toMs }) => {
      const next = acceptedAtMs.find((ms) => ms >= (toMs ?? Number.POSITIVE_INFINITY));
      // A restart after the last request says nothing.
      const isLast = toMs === null || (rowEndMs.get(row) ?? 0) < toMs;
      return what === "kill" && who === "postgres" && next !== undefined && !isLast ? [next - toMs] : [];
    });
  });
  return Math.max(0, ...returns);
}
