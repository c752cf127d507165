import { initTRPC, TRPCError } from "@trpc/server";
import { z } from "zod";
import type { Role } from "#db/schema/teams";
import type { ConsoleDeps } from "#server/auth/deps";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/platform/errors";
import type { Session } from "#server/services/people/sessions";
import { formatMissingPermission, hasPermission, type Permission } from "#server/shared/roles";
import type { TrpcContext } from "./context";
import { toTrpcError, UNEXPECTED } from "./faults";
import { rejectUnstorableText } from "./unstorable-text";

/** Rows of one page of a list. */
export const pageRows = 25;

/** Metadata of procedures, for the test suites that cover all of them. */
export type Meta = {
  /** The permission that a procedure of a team requires. */
  permission?: Permission;
  /** The procedure does not require a session. */
  isOpen?: true;
  /** The procedure exists only for operators of the installation. */
  isForOperators?: true;
};

const t = initTRPC
  .context<TrpcContext>()
  .meta<Meta>()
  .create({
    isDev: false,
    sse: {
      // A proxy that waits 60 s for the next byte keeps the connection.
      ping: { enabled: true, intervalMs: 20_000 },
      // The browser connects again, with its session and role checked again.
      maxDurationMs: 5 * 60_000,
    },
    // Covers errors thrown outside procedures, and removes details that tRPC would add.
    errorFormatter: ({ shape, error, ctx }) => ({
      code: shape.code,
      message: error.code === "INTERNAL_SERVER_ERROR" ? UNEXPECTED : shape.message,
      data: {
        code: shape.data.code,
        httpStatus: shape.data.httpStatus,
        path: shape.data.path,
        requestId: ctx?.requestId,
      },
    }),
  });

export const router = t.router;
export const createCallerFactory = t.createCallerFactory;

const base = t.procedure.use(async ({ ctx, type, next }) => {
  const result = await next();
  if (result.ok) {
    if (type === "mutation") ctx.deps.live?.hint();
    return result;
  }
  throw await toTrpcError(result.error, ctx.deps, ctx.requestId);
});

const storable = t.middleware(async ({ getRawInput, next }) => {
  rejectUnstorableText(await getRawInput());
  return next();
});

/** For callers with another credential, such as an invitation link; no session required. */
export const open = base.meta({ isOpen: true }).use(storable);

const withSession = base.use(async ({ ctx, next }) => {
  const session = await ctx.session();
  if (!session)
    throw new TRPCError({ code: "UNAUTHORIZED", message: "Your session has expired. Sign in again." });
  return next({ ctx: { signedInAs: session } });
});

/** For signed-in users. The session is read from the database on every call, before the call's body. */
export const signedIn = withSession.use(storable);

/**
 * For operators of the installation; the services' context is passed as `ctx.operator`. Everybody else gets
 * the response to a procedure that does not exist, whatever the input.
 */
export const asOperator = withSession
  .meta({ isForOperators: true })
  .use(async ({ ctx, path, next }) => {
    if (!ctx.signedInAs.isOperator)
      throw new TRPCError({ code: "NOT_FOUND", message: `No procedure found on path "${path}"` });
    const operator = { ...ctx.deps, requestId: ctx.requestId };
    const actor = { kind: "user" as const, userId: ctx.signedInAs.user.id };
    return next({ ctx: { operator: { ...operator, actor } } });
  })
  .use(storable);

/**
 * The result of a query of a team that is the same for all its members who may read it. Concurrent calls with
 * the same input share a read. Its `service` has no user: what depends on the caller is added to the result.
 */
export function joined<Result>(
  { ctx, path, input }: { ctx: { deps: ConsoleDeps; service: Ctx }; path: string; input: unknown },
  read: (service: Ctx) => Promise<Result>,
): Promise<Result> {
  const { teamId } = ctx.service;
  const service: Ctx = { ...ctx.service, actor: { kind: "system" } };
  return ctx.deps.joinReads(JSON.stringify([path, teamId, input]), () => read(service));
}

/** The team of a page. It is part of the page's URL, so two tabs can show two teams. */
const team = z.string().max(60);
const InTeam = z.object({ team });

/** The place of a page in a list: after or before the row with this id. */
export const CURSOR = { after: z.uuid().optional(), before: z.uuid().optional() };

/** For procedures that need only the caller. */
export const NoInput = z.strictObject({}).optional();

/**
 * The services' `ctx` for a member who acts in a team. Throws 404 for a team that the user is not a member
 * of, as for an unknown team, and 403 if the role lacks the permission.
 */
export function enterTeam(
  { deps, requestId }: Pick<TrpcContext, "deps" | "requestId">,
  { user, memberships }: Session,
  team: string,
  permission: Permission,
): { service: Ctx; role: Role } {
  const membership = memberships.find(({ teamId }) => teamId === team);
  if (!membership) throw notFound("Team");
  const { teamId, role } = membership;
  if (!hasPermission(role, permission))
    throw new AppError("forbidden", formatMissingPermission(role, permission));
  return { service: { ...deps, teamId, actor: { kind: "user", userId: user.id }, requestId }, role };
}

/**
 * For members of the input's team whose role has that permission; both are checked on every call, before the
 * input's other `fields`. The services' `ctx` is passed as `ctx.service`.
 */
export const inTeam = <Fields extends z.ZodRawShape = Record<never, never>>(
  permission: Permission,
  fields?: Fields,
) =>
  signedIn
    .meta({ permission })
    .use(async ({ ctx, getRawInput, next }) => {
      const input = InTeam.parse(await getRawInput());
      return next({ ctx: enterTeam(ctx, ctx.signedInAs, input.team, permission) });
    })
    .input(z.strictObject({ team, ...(fields as Fields) }));
