import { READ_AGGREGATES } from "#server/mail/aggregate/read";
import { PARSE_REPORT } from "#server/mail/bounce/read-report";
import { answer } from "#server/platform/threads";
import { READ_JSON } from "#server/rest/body/json";
import { PARSE_SUBMISSION } from "#server/submission/message";

/* The program of the threads that read bytes of strangers: `server/platform/threads.ts`. */

export const readJson = answer(READ_JSON);
export const parseReport = answer(PARSE_REPORT);
export const readAggregates = answer(READ_AGGREGATES);
export const parseSubmission = answer(PARSE_SUBMISSION);
