import { z } from "zod";
import { type AuditFilter, listActors, listAudit, NAMELESS_ACTORS } from "#server/services/audit/read";
import { findSubjects } from "#server/services/audit/subjects";
import { listKeys, nameKeys } from "#server/services/keys/read";
import { getCall, type LogFilter, listCalls } from "#server/services/logs/read";
import { inTeam, router } from "../init";
import { strictInput, TeamInput } from "../strict";
import { viewActor, viewCall, viewCallDetail, viewChange } from "./views";

const pageRows = 25;
const cursor = { after: z.uuid().optional(), before: z.uuid().optional() };

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
const hourMs = 3_600_000;

/** Filters of the API log, on the page and in its export. */
export const callFilter = {
  key: z.uuid().optional(),
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).optional(),
  status: z.enum(["2xx", "4xx", "5xx", "refused"]).optional(),
};

const STATUSES = {
  "2xx": { status: { from: 200, to: 299 } },
  "4xx": { status: { from: 400, to: 499 } },
  "5xx": { status: { from: 500, to: 599 } },
  refused: { isRefused: true },
} as const;

/** The filters in the form of the services. */
export const changeFilterOf = (now: Date, input: z.infer<z.ZodObject<typeof changeFilter>>): AuditFilter => ({
  ...(input.actor ? { actor: input.actor } : {}),
  ...(input.action ? { action: input.action } : {}),
  ...(input.within ? { since: new Date(now.getTime() - HOURS[input.within] * hourMs) } : {}),
});
export const callFilterOf = (input: z.infer<z.ZodObject<typeof callFilter>>): LogFilter => ({
  ...(input.key ? { apiKeyId: input.key } : {}),
  ...(input.method ? { method: input.method } : {}),
  ...(input.status ? STATUSES[input.status] : {}),
});
const pageOf = ({ after, before }: { after?: string | undefined; before?: string | undefined }) => ({
  limit: pageRows,
  ...(after ? { after } : {}),
  ...(before ? { before } : {}),
});

export const activityRouter = router({
  changes: inTeam("audit:read")
    .input(strictInput({ ...changeFilter, ...cursor }))
    .query(async ({ ctx, input }) => {
      const page = { ...changeFilterOf(ctx.service.clock(), input), ...pageOf(input) };
      const { rows, hasMore } = await listAudit(ctx.service, page);
      const present = await findSubjects(ctx.service, rows);
      return { rows: rows.map((row) => viewChange(row, present)), hasMore };
    }),
  /** The actors that the audit log can be filtered by. */
  actors: inTeam("audit:read")
    .input(TeamInput)
    .query(async ({ ctx }) => (await listActors(ctx.service)).map(viewActor)),
  requests: inTeam("logs:read")
    .input(strictInput({ ...callFilter, ...cursor }))
    .query(async ({ ctx, input }) => {
      const page = { ...callFilterOf(input), ...pageOf(input) };
      const { rows, hasMore } = await listCalls(ctx.service, page);
      const names = await nameKeys(
        ctx.service,
        rows.map(({ apiKeyId }) => apiKeyId),
      );
      return { rows: rows.map((row) => viewCall(row, names.get(row.apiKeyId) ?? null)), hasMore };
    }),
  /** The active keys, by which the API log can be filtered. */
  keys: inTeam("logs:read")
    .input(TeamInput)
    .query(async ({ ctx }) => (await listKeys(ctx.service)).map(({ id, name }) => ({ id, name }))),
  /** One call with request and response; secrets and contents were removed when it was recorded. */
  request: inTeam("logs:read")
    .input(strictInput({ id: z.uuid() }))
    .query(async ({ ctx, input }) => {
      const call = await getCall(ctx.service, input.id);
      const names = await nameKeys(ctx.service, [call.apiKeyId]);
      return viewCallDetail(call, names.get(call.apiKeyId) ?? null);
    }),
});
