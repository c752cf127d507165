import type { Console } from "../support/console/console";
import { activityCalls } from "./calls/activity";
import type { ProcedureCalls } from "./calls/call";
import { domainCalls } from "./calls/domains";
import { emailCalls } from "./calls/emails";
import { keyCalls } from "./calls/keys";
import { overviewCalls } from "./calls/overview";
import { searchCalls } from "./calls/search";
import { suppressionCalls } from "./calls/suppressions";
import { teamCalls } from "./calls/team";
import { templateCalls } from "./calls/templates";
import { webhookCalls } from "./calls/webhooks";

/**
 * What the suites over all procedures cannot derive from a declaration. A new procedure of a team without an
 * entry in one of these files fails them with an explanation.
 */
export const createProcedureCalls = (console: Console): ProcedureCalls => ({
  ...domainCalls(console),
  ...emailCalls(console),
  ...overviewCalls(console),
  ...keyCalls(console),
  ...searchCalls(),
  ...suppressionCalls(console),
  ...templateCalls(console),
  ...webhookCalls(console),
  ...activityCalls(console),
  ...teamCalls(console),
});
