import { register } from "tsx/esm/api";

/* `thread.ts` without compilation, for `dev` and tests: threads do not inherit the loader of the process. */
register();
export const { readJson, readAggregates, parseReport, parseSubmission } = await import("./thread.ts");
