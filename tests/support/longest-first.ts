import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take long for their size, because they wait for processes and time limits or create a large
 * load.
 */
const LONG = [
  "console/every-procedure",
  "db/lost-connection",
  "delivery/destinations",
  "delivery/long-texts",
  "delivery/pauses",
  "delivery/relay-breaker",
  "delivery/relays",
  "delivery/reply-codes",
  "delivery/webhooks/deliver",
  "delivery/webhooks/health",
  "rest/every-route",
  "rest/fetched-budget",
  "rest/isolation",
  "rest/overload",
  "rest/slow-bodies",
  "services/alerts/alerts",
  "submission/submission",
];

const rankOf = ({ moduleId, project }: TestSpecification): number => {
  if (LONG.some((file) => moduleId.endsWith(`/tests/${file}.test.ts`))) return 0;
  return project.name === "service" ? 1 : 2;
};

/**
 * Vitest starts the largest files first, or those that took longest in an earlier run. This starts the long
 * ones of the database first and the short ones without it last, so that no core waits for a single file at
 * the end.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
