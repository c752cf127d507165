import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take long for their size, because they wait for processes and time limits.
 */
const LONG = [
  "deep/every-procedure",
  "delivery/relay-breaker",
  "delivery/relays",
  "delivery/reply-codes",
  "delivery/webhooks/deliver",
  "delivery/webhooks/health",
  "deep/every-route",
  "deep/isolation",
  "sdk/errors",
  "services/alerts/alerts",
  "submission/submission",
];

/** Folders whose files need no database, and are short. */
const SHORT = ["mail", "platform"];

const rankOf = ({ moduleId }: TestSpecification): number => {
  if (LONG.some((file) => moduleId.endsWith(`/tests/${file}.test.ts`))) return 0;
  return SHORT.some((folder) => moduleId.includes(`/tests/${folder}/`)) ? 2 : 1;
};

/**
 * Vitest starts the largest files first, or those that took longest in an earlier run. This starts the long
 * ones first and the short ones last, so that no core waits for a single file at the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
