import type { ProviderName } from "./providers/provider";

/** An entry of the source that was not imported, or only in part: its place, its name, and the reason. */
export type Problem = {
  /** The line of a file, from 1. */
  line?: number;
  /** The entry of a list in a JSON document or an API response, from 1. */
  entry?: number;
  /** The list, stream or field. */
  list?: string;
  name: string | null;
  reason: string;
};

/** Problems that are reported one by one. The counts include the others. */
const problemsMax = 1_000;

/** The result of an import, the same for a dry run. `problems_omitted` counts those that are not listed. */
export type ImportReport = {
  object: "import";
  from: ProviderName;
  dry_run: boolean;
  problems: Problem[];
  problems_omitted: number;
};

/** The part of a report that all imports share, and how it receives a problem. */
export function openReport(from: ProviderName, isDryRun: boolean) {
  const report: ImportReport = {
    object: "import",
    from,
    dry_run: isDryRun,
    problems: [],
    problems_omitted: 0,
  };
  return {
    report,
    addProblem: (problem: Problem) => {
      if (report.problems.length < problemsMax) report.problems.push(problem);
      else report.problems_omitted++;
    },
  };
}
