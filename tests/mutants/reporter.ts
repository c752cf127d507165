import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestModule } from "vitest/node";

/** What one run of test files found. */
export type Findings = {
  failures: { file: string; test: string; error: string }[];
  /** Files whose tests did not start: they could not be imported, or a hook threw what no test expects. */
  notStarted: { file: string; error: string }[];
  /** Errors outside of tests. Vitest fails the run for them. */
  errors: string[];
  passed: number;
};

type TestError = { name?: string; message: string };

const describeFirst = ([first]: readonly TestError[] = []): string =>
  first ? `${first.name}: ${first.message.split("\n")[0]}` : "";

/** A failed assertion or a timeout in a hook is a result like one in a test. */
const isResult = ({ name, message }: TestError): boolean =>
  name === "AssertionError" || /^Hook timed out/.test(message);

/** Writes the findings of a run as JSON to the file `MUTANT_FINDINGS`. */
export default class FindingsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const findings: Findings = {
      failures: [],
      notStarted: [],
      errors: errors.map((error) => describeFirst([error])),
      passed: 0,
    };
    for (const module of modules) {
      const { relativeModuleId: file, children } = module;
      findings.passed += [...children.allTests("passed")].length;
      for (const test of children.allTests("failed"))
        findings.failures.push({ file, test: test.fullName, error: describeFirst(test.result().errors) });
      for (const suite of [module, ...children.allSuites()])
        for (const error of suite.errors())
          if (children.size > 0 && isResult(error))
            findings.failures.push({ file, test: "a hook", error: describeFirst([error]) });
          else findings.notStarted.push({ file, error: describeFirst([error]) });
    }
    writeFileSync(process.env.MUTANT_FINDINGS ?? "", JSON.stringify(findings));
  }
}
