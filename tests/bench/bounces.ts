import { readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { interpretReported } from "#server/mail/bounce/judge";
import { parseReport } from "#server/mail/bounce/read-report";
import type { Reported } from "#server/mail/bounce/report";
import { comparedLine, formatTable, type Line } from "./report";

/** `labels.json` of a folder: what a person, or the suite that a message is from, says about each file. */
const Labels = z.array(
  z.object({
    file: z.string(),
    kind: z.enum(["bounce", "delivered", "complaint", "auto-reply", "ordinary"]),
    /** One list for each failed recipient: its addresses, of which the report has to name one. */
    recipients: z.array(z.array(z.string()).min(1)).optional(),
    /** Other addresses that the report may name, such as the one that an alias leads to. */
    also: z.array(z.string()).optional(),
    /** Whether the address does not exist (any longer); absent if that is disputed. */
    isHard: z.boolean().optional(),
  }),
);
type Label = z.infer<typeof Labels>[number];
type Score = { right: number; of: number; missed: string[] };

/**
 * Scores a folder of labelled messages: a table for each of its folders and for the whole. The names of files
 * that were read wrong go to the standard error stream.
 */
export function scoreBounces(folder: string): string {
  const labels = Labels.parse(JSON.parse(readFileSync(path.join(folder, "labels.json"), "utf8")));
  const scores = new Map<string, Score>();
  const score = (what: string, { file }: Label, isRight: boolean) => {
    const group = file.includes("/") ? file.slice(0, file.indexOf("/")) : "";
    for (const name of group === "" ? [what] : [what, `${what}: ${group}`]) {
      const found = scores.get(name) ?? { right: 0, of: 0, missed: [] };
      scores.set(name, found);
      found.of += 1;
      if (isRight) found.right += 1;
      else found.missed.push(file);
    }
  };
  for (const label of labels) {
    const report = parseReport(readFileSync(path.join(folder, label.file)));
    const reported = report?.kind === "delivery" ? report.reported : [];
    const failures = reported.filter(({ action }) => action === "failed" || action === "delayed");
    if (label.kind === "ordinary" || label.kind === "auto-reply")
      score("no false bounce", label, !reported.some(({ action }) => action === "failed"));
    if (label.kind === "ordinary" || label.kind === "auto-reply")
      score("no false complaint", label, report?.kind !== "complaint");
    if (label.kind === "auto-reply") score("automatic reply", label, report?.kind === "auto-reply");
    if (label.kind === "complaint") score("complaint", label, report?.kind === "complaint");
    if (label.kind !== "bounce") continue;
    score("recognised", label, failures.length > 0);
    if (label.recipients) score("right recipient", label, areRight(failures, label.recipients, label.also));
    if (label.isHard !== undefined)
      score(
        "hard or soft",
        label,
        failures.length > 0 && failures.every((each) => isHard(each) === label.isHard),
      );
    if (failures.length > 0)
      score("reason found", label, !failures.some((each) => interpretReported(each).class === "other"));
  }
  for (const [name, { missed }] of scores)
    if (!name.includes(":")) for (const file of missed) process.stderr.write(`${name}\t${file}\n`);
  return formatTable([...scores].sort(([a], [b]) => a.localeCompare(b)).map(toLine));
}

const AT_LEAST: Record<string, number> = {
  recognised: 0.97,
  "right recipient": 0.96,
  "hard or soft": 0.97,
  "no false bounce": 1,
  "no false complaint": 1,
  "automatic reply": 0.95,
  complaint: 0.95,
};

function toLine([what, { right, of }]: [string, Score]): Line {
  const ratio = right / of;
  const measured = `${right} of ${of}, ${(ratio * 100).toFixed(1)} %`;
  const atLeast = AT_LEAST[what];
  return atLeast === undefined
    ? { what, measured, floor: "", ratio: null, budget: "", isMet: null }
    : comparedLine({ what, measured, floor: "", ratio, budget: { atLeast } });
}

const isHard = (reported: Reported): boolean =>
  reported.action === "failed" && interpretReported(reported).class === "hard";

function areRight(failures: Reported[], expected: string[][], also: string[] = []): boolean {
  const named = failures.map(({ recipients }) => recipients.map((each) => each.toLowerCase()));
  const known = new Set([...expected.flat(), ...also].map((each) => each.toLowerCase()));
  return (
    expected.every((group) => named.flat().some((each) => group.some((one) => one.toLowerCase() === each))) &&
    named.every((addresses) => addresses.length === 0 || addresses.some((each) => known.has(each)))
  );
}
