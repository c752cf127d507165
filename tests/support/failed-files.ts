import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule, TestRunEndReason, TestSpecification } from "vitest/node";

/**
 * Writes the paths of the test files that failed to the file `FAILED_FILES`, one per line. It writes nothing
 * if more than tests failed: an error outside of them, an interrupted run, or files that did not run.
 */
export default class FailedFiles implements Reporter {
  private expected = 0;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.expected = specifications.length;
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const finished = modules.filter((module) => !["pending", "queued"].includes(module.state()));
    if (reason !== "failed" || errors.length > 0 || finished.length !== this.expected) return;
    const failed = finished.filter((module) => module.state() === "failed").map(({ moduleId }) => moduleId);
    writeFileSync(process.env.FAILED_FILES ?? "", failed.map((file) => `${file}\n`).join(""));
  }
}
