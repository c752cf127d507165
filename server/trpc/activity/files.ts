import { z } from "zod";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { type CsvColumn, writeCsv } from "#server/platform/http/csv";
import { type AuditEntryRow, listAllAudit } from "#server/services/audit/read";
import { nameKeys } from "#server/services/keys/read";
import { listAllCalls } from "#server/services/logs/read";
import type { ApiCall } from "#server/shared/wire/log";
import { fileResponse, handleTeamFile } from "../team-file";
import { rejectUnstorableText } from "../unstorable-text";
import { callFilter, callFilterOf, changeFilter, changeFilterOf, wordsOf } from "./activity";

const csv = "text/csv; charset=utf-8; header=present";

const CHANGE_COLUMNS: readonly CsvColumn<AuditEntryRow>[] = [
  { name: "time", of: ({ createdAt }) => createdAt },
  { name: "actor", of: ({ actor }) => actor },
  { name: "actor_id", of: ({ actorId }) => actorId },
  { name: "actor_name", of: ({ actorName }) => actorName },
  { name: "action", of: ({ action }) => action },
  { name: "words", of: ({ action }) => wordsOf(action) },
  { name: "subject_id", of: ({ subjectId }) => subjectId },
  { name: "subject_name", of: ({ subjectName }) => subjectName },
  { name: "detail", of: ({ detail }) => JSON.stringify(detail) },
  { name: "request_id", of: ({ requestId }) => requestId },
];

/** The audit log as CSV, filtered by the query. */
export const answerChangesFile = (deps: ConsoleDeps, cookies: Cookies, query: URLSearchParams) =>
  handleTeamFile(deps, { cookies, team: query.get("team") ?? "", permission: "audit:read" }, async (ctx) => {
    const filter = changeFilterOf(ctx.clock(), readFilter(changeFilter, query));
    const parts = writeCsv(CHANGE_COLUMNS, listAllAudit(ctx, filter));
    return fileResponse(deps, parts, { filename: "changes.csv", contentType: csv });
  });

type NamedCall = ApiCall & { keyName: string | null };

const CALL_COLUMNS: readonly CsvColumn<NamedCall>[] = [
  { name: "time", of: ({ createdAt }) => createdAt },
  { name: "method", of: ({ method }) => method },
  { name: "path", of: ({ path }) => path },
  { name: "status", of: ({ status }) => status },
  { name: "key_id", of: ({ apiKeyId }) => apiKeyId },
  { name: "key_name", of: ({ keyName }) => keyName },
  { name: "user_agent", of: ({ userAgent }) => userAgent },
];

/** The API log as CSV, without bodies. */
export const answerRequestsFile = (deps: ConsoleDeps, cookies: Cookies, query: URLSearchParams) =>
  handleTeamFile(deps, { cookies, team: query.get("team") ?? "", permission: "logs:read" }, async (ctx) => {
    const filter = callFilterOf(readFilter(callFilter, query));
    async function* named(): AsyncGenerator<NamedCall[]> {
      for await (const calls of listAllCalls(ctx, filter)) {
        const names = await nameKeys(
          ctx,
          calls.map(({ apiKeyId }) => apiKeyId),
        );
        yield calls.map((call) => ({ ...call, keyName: names.get(call.apiKeyId) ?? null }));
      }
    }
    const parts = writeCsv(CALL_COLUMNS, named());
    return fileResponse(deps, parts, { filename: "requests.csv", contentType: csv });
  });

function readFilter<Shape extends z.ZodRawShape>(shape: Shape, query: URLSearchParams) {
  const given = Object.fromEntries(query);
  rejectUnstorableText(given);
  return z.object(shape).parse(given);
}
