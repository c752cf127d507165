import { execFileSync } from "node:child_process";
import { cpus } from "node:os";
import { projectRoot } from "../support/processes/processes";

/** One line of the table. `isMet` is null without a goal. */
export type Line = {
  what: string;
  /** With its unit, such as "4,310 emails/s". */
  measured: string;
  /** The reference of the same run. */
  floor: string;
  ratio: number | null;
  budget: string;
  isMet: boolean | null;
};

export type Budget = { atLeast: number } | { atMost: number };

/** A line whose ratio is compared with its goal. */
export function comparedLine(
  line: Pick<Line, "what" | "measured" | "floor"> & { ratio: number; budget: Budget },
): Line {
  const { ratio, budget } = line;
  const [sign, bound] = "atLeast" in budget ? ["≥", budget.atLeast] : ["≤", budget.atMost];
  const isMet = "atLeast" in budget ? ratio >= budget.atLeast : ratio <= budget.atMost;
  return { ...line, budget: `${sign} ${bound}x`, isMet };
}

/** A line without a goal. */
export const plainLine = (what: string, measured: string, floor = "", ratio: number | null = null): Line => ({
  what,
  measured,
  floor,
  ratio,
  budget: "",
  isMet: null,
});

/** The lines as a Markdown table. */
export function formatTable(lines: readonly Line[]): string {
  const rows = lines.map(({ what, measured, floor, ratio, budget, isMet }) => [
    what,
    measured,
    floor,
    ratio === null ? "" : `${ratio.toFixed(2)}x`,
    budget,
    isMet === null ? "" : isMet ? "met" : "**missed**",
  ]);
  const head = ["what", "measured", "reference, in the same run", "ratio", "budget", ""];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** When, where and what was measured. */
export function describeRun(now: Date, postgresVersion: string): string {
  const [cpu] = cpus();
  const git = (...args: string[]) => execFileSync("git", args, { cwd: projectRoot, encoding: "utf8" }).trim();
  const commit = tryOr("unknown", () => git("rev-parse", "--short", "HEAD"));
  const isChanged = tryOr(false, () => git("status", "--porcelain", "--untracked-files=no") !== "");
  return [
    now.toISOString().slice(0, 16).replace("T", " "),
    `${cpus().length} cores of ${cpu?.model.trim() ?? "an unknown processor"}`,
    `Node ${process.versions.node}`,
    `PostgreSQL ${postgresVersion}`,
    `commit ${commit}${isChanged ? " with changes" : ""}`,
  ].join(", ");
}

function tryOr<T>(otherwise: T, get: () => T): T {
  try {
    return get();
  } catch {
    return otherwise;
  }
}

export const perSecond = (value: number, unit: string): string =>
  `${Math.round(value).toLocaleString("en")} ${unit}/s`;
export const milliseconds = (value: number): string =>
  `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
export const seconds = (value: number): string => `${value.toFixed(1)} s`;
