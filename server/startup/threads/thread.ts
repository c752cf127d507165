import { READ_REPORT } from "#server/mail/bounce/read-report";
import { answer } from "#server/platform/threads";
import { READ_JSON } from "#server/rest/body/json";
import { READ_SUBMISSION } from "#server/submission/message";

/* The program of the threads that read bytes of strangers: `server/platform/threads.ts`. */

export const readJson = answer(READ_JSON);
export const readReport = answer(READ_REPORT);
export const readSubmission = answer(READ_SUBMISSION);
