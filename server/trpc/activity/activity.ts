import { z } from "zod";
import { AUDIT_ACTIONS } from "#server/services/audit/actions";
import {
  type AuditEntryRow,
  type AuditFilter,
  listActors,
  listAudit,
  NAMELESS_ACTORS,
} from "#server/services/audit/read";
import { findSubjects, nounOf } from "#server/services/audit/subjects";
import { listKeys, nameKeys } from "#server/services/keys/read";
import { getCall, type LogFilter, listCalls } from "#server/services/logs/read";
import { hourMs } from "#server/shared/durations";
import { type ApiCall, presentLog, presentLogSummary } from "#server/shared/wire/log";
import { withIsoTimes } from "#server/shared/wire/shapes";
import { CURSOR, inTeam, pageRows, router } from "../init";

/** Filters of the audit log, on the page and in its export. Times are ISO 8601. */
export const changeFilter = {
  actor: z.union([z.uuid(), z.enum(NAMELESS_ACTORS)]).optional(),
  action: z
    .string()
    .regex(/^[a-z_]+(\.[a-z_]+)?$/)
    .max(60)
    .optional(),
  within: z.enum(["24h", "7d", "30d", "90d"]).optional(),
};
const HOURS = { "24h": 24, "7d": 7 * 24, "30d": 30 * 24, "90d": 90 * 24 };

/** Filters of the API log, on the page and in its export. */
export const callFilter = {
  key: z.uuid().optional(),
  email: z.uuid().optional(),
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE", "SMTP"]).optional(),
  status: z.enum(["2xx", "4xx", "5xx", "refused"]).optional(),
};

const STATUSES = {
  "2xx": { status: { from: 200, to: 299 } },
  "4xx": { status: { from: 400, to: 499 } },
  "5xx": { status: { from: 500, to: 599 } },
  refused: { isRefused: true },
} as const;

/** The filters in the form of the services. */
export const changeFilterOf = (
  now: Date,
  { actor, action, within }: z.infer<z.ZodObject<typeof changeFilter>>,
): AuditFilter => ({
  actor,
  action,
  since: within && new Date(now.getTime() - HOURS[within] * hourMs),
});
export const callFilterOf = ({
  key,
  email,
  method,
  status,
}: z.infer<z.ZodObject<typeof callFilter>>): LogFilter => ({
  apiKeyId: key,
  emailId: email,
  method,
  ...(status && STATUSES[status]),
});

/** The text for an action; its stored name if it is unknown. */
export const wordsOf = (action: string): string =>
  Object.hasOwn(AUDIT_ACTIONS, action) ? AUDIT_ACTIONS[action as keyof typeof AUDIT_ACTIONS] : action;

/** One entry of the audit log. `existing`: the ids of targets that still have a page. */
const presentAuditEntry = ({ teamId: _, ...row }: AuditEntryRow, existing: ReadonlySet<string>) => ({
  ...withIsoTimes(row),
  words: wordsOf(row.action),
  noun: nounOf(row.action),
  isPresent: row.subjectId !== null && existing.has(row.subjectId),
});
export type AuditEntryView = ReturnType<typeof presentAuditEntry>;

/** What the console shows of a call in addition to the API: the name of the key and the path in full. */
const consoleFields = ({ apiKeyId, path }: ApiCall, names: ReadonlyMap<string, string>) => ({
  path,
  apiKeyName: names.get(apiKeyId) ?? null,
});
const presentCall = (call: ApiCall, names: ReadonlyMap<string, string>) => ({
  ...presentLogSummary(call),
  ...consoleFields(call, names),
});
export type CallView = ReturnType<typeof presentCall>;

export const activityRouter = router({
  changes: inTeam("audit:read", { ...changeFilter, ...CURSOR }).query(async ({ ctx, input }) => {
    const page = {
      ...changeFilterOf(ctx.service.clock(), input),
      after: input.after,
      before: input.before,
      limit: pageRows,
    };
    const { rows, hasMore } = await listAudit(ctx.service, page);
    const existing = await findSubjects(ctx.service, rows);
    return { rows: rows.map((row) => presentAuditEntry(row, existing)), hasMore };
  }),
  /** The actors that the audit log can be filtered by. */
  actors: inTeam("audit:read").query(({ ctx }) => listActors(ctx.service)),
  requests: inTeam("logs:read", { ...callFilter, ...CURSOR }).query(async ({ ctx, input }) => {
    const page = { ...callFilterOf(input), after: input.after, before: input.before, limit: pageRows };
    const { rows, hasMore } = await ctx.service.replica.run(ctx.service, (from) => listCalls(from, page));
    const names = await nameKeys(
      ctx.service,
      rows.map(({ apiKeyId }) => apiKeyId),
    );
    return { rows: rows.map((row) => presentCall(row, names)), hasMore };
  }),
  /** The active keys, by which the API log can be filtered. */
  keys: inTeam("logs:read").query(async ({ ctx }) =>
    (await listKeys(ctx.service)).map(({ id, name }) => ({ id, name })),
  ),
  /** One call with request and response; secrets and contents were removed when it was recorded. */
  request: inTeam("logs:read", { id: z.uuid() }).query(async ({ ctx, input }) => {
    const call = await getCall(ctx.service, input.id);
    const names = await nameKeys(ctx.service, [call.apiKeyId]);
    return { ...presentLog(call), ...consoleFields(call, names) };
  }),
});
