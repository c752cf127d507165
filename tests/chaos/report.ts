import { type Finding, INVARIANTS, type Verdict } from "./judge";
import { type Records, STAGES, STAGES_OF, VICTIMS } from "./records";
import { type KillTable, killsAt } from "./stages";

const findingsShownMax = 20;

/** The table of kills, the sums of mail, and what was found, for a terminal. */
export function describeRun(records: Records, table: KillTable, { counts, findings }: Verdict): string {
  const lines = [
    row("mail was", ...VICTIMS, "in all"),
    ...STAGES.map((stage) =>
      row(
        stage,
        ...VICTIMS.map((victim) => (STAGES_OF[victim].includes(stage) ? String(table[victim][stage]) : "-")),
        String(killsAt(table, stage)),
      ),
    ),
    row(
      "kills",
      ...VICTIMS.map((victim) => String(records.kills.filter((kill) => kill.victim === victim).length)),
      String(records.kills.length),
    ),
    "",
    sum(counts.posted, "mails posted"),
    sum(counts.accepted, "answered 2xx"),
    sum(counts.repeated, "requests repeated or doubled under their key"),
    sum(counts.refused, "refused as they should be"),
    sum(counts.unheard, "heard by nobody"),
    sum(counts.inDoubt, "without a key and without a 2xx: whoever asked cannot know"),
    sum(counts.inDoubtKept, "of those, committed all the same, and then delivered like any other"),
    sum(counts.delivered, "recipients reached"),
    sum(counts.copiesRecorded, "copies too many, each with its unknown on record"),
    sum(counts.copiesUnrecorded, "copies too many without one"),
    sum(counts.lost, "recipients lost"),
    sum(slowestReturnMs(records), "ms at most from PostgreSQL being back to the next mail accepted"),
  ];
  return [...lines, ...describeFindings(findings)].join("\n");
}

function slowestReturnMs({ kills, calls }: Records): number {
  const acceptedAtMs = calls
    .flatMap(({ tries }) => tries)
    .flatMap(({ id, endedAtMs }) => (id === null ? [] : [endedAtMs]))
    .sort((a, b) => a - b);
  const returns = kills.flatMap(({ victim, backAtMs }) => {
    const next = acceptedAtMs.find((ms) => ms >= (backAtMs ?? Number.POSITIVE_INFINITY));
    return victim === "postgres" && backAtMs !== null && next !== undefined ? [next - backAtMs] : [];
  });
  return Math.max(0, ...returns);
}

function describeFindings(findings: Finding[]): string[] {
  if (findings.length === 0) return [];
  const shown = findings.slice(0, findingsShownMax).map(({ invariant, what }) => `  ${invariant}  ${what}`);
  const broken = [...new Set(findings.map(({ invariant }) => invariant))].sort();
  return [
    "",
    `${findings.length} findings:`,
    ...shown,
    ...(findings.length > shown.length ? [`  and ${findings.length - shown.length} more`] : []),
    ...broken.map((name) => `  ${name} is: ${INVARIANTS[name]}.`),
  ];
}

const row = (first: string, ...cells: string[]): string =>
  `  ${first.padEnd(16)}${cells.map((cell) => cell.padStart(10)).join("")}`;

const sum = (count: number, what: string): string => `  ${String(count).padStart(6)}  ${what}`;
