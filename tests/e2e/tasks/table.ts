import { actionsOf, type Effort, RECORDED, TASKS, type TaskName } from "./recorded";

/** What one run of a task took. */
export type Measured = Effort & { steps: string };

/**
 * The table of a run in Markdown: each task with its clicks, keys, typed characters and steps, beside what is
 * recorded.
 */
export function formatTable(measured: ReadonlyMap<TaskName, Measured>): string {
  const lines = [...measured].map(([name, { clicks, keys, typed, steps }]) => {
    const cells = [
      TASKS[name],
      clicks,
      keys,
      actionsOf({ clicks, keys }),
      actionsOf(RECORDED[name]),
      typed,
      steps,
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "| task | clicks | keys | sum | recorded | typed | steps |",
    "|---|---|---|---|---|---|---|",
    ...lines,
  ].join("\n");
}
