import { initTRPC, TRPCError } from "@trpc/server";
import { z } from "zod";
import type { Role } from "#db/schema/teams";
import type { Ctx } from "#server/deps";
import { AppError, notFound } from "#server/errors";
import { mayDo, type Right, sayLack } from "#server/roles";
import type { Session } from "#server/services/sessions";
import type { TrpcContext } from "./context";
import { toTrpcError, UNEXPECTED } from "./faults";
import { refuseUnkeepable } from "./kept-text";

/** What procedures declare of themselves, for the suites over all of them. */
export type Meta = {
  /** What a procedure of a team asks for. */
  right?: Right;
  /** Nobody need be signed in. */
  isOpen?: true;
};

const t = initTRPC
  .context<TrpcContext>()
  .meta<Meta>()
  .create({
    isDev: false,
    // The last net: whatever was thrown outside a procedure, and whatever tRPC would add, stops here.
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

const spoken = t.procedure
  .use(async ({ ctx, next }) => {
    const result = await next();
    if (result.ok) return result;
    throw toTrpcError(result.error, ctx.deps.log, ctx.requestId);
  })
  .use(async ({ getRawInput, next }) => {
    refuseUnkeepable(await getRawInput());
    return next();
  });

/** For whoever brings something that opens a door by itself, such as the link of an invitation; nobody need be signed in. */
export const open = spoken.meta({ isOpen: true });

/** For whoever is signed in. The session's row is read at every call. */
export const signedIn = spoken.use(async ({ ctx, next }) => {
  const session = await ctx.session();
  if (!session)
    throw new TRPCError({ code: "UNAUTHORIZED", message: "Sign in again: your session is over." });
  return next({ ctx: { signedInAs: session } });
});

/** Names the team that a page is about. It stands in the page's address, so two tabs may show two teams. */
const InTeam = z.object({ team: z.string().max(60) });

/**
 * The services' `ctx` for somebody who wants to do something in a team. A team that they are not in answers like one that
 * does not exist; a role without the right is refused with 403.
 */
export function enterTeam(
  { deps, requestId }: Pick<TrpcContext, "deps" | "requestId">,
  { user, memberships }: Session,
  team: string,
  right: Right,
): { service: Ctx; role: Role } {
  const membership = memberships.find(({ teamId }) => teamId === team);
  if (!membership) throw notFound("Team");
  const { teamId, role } = membership;
  if (!mayDo(role, right)) throw new AppError("forbidden", sayLack(role, right));
  return { service: { ...deps, teamId, actor: { kind: "user", userId: user.id }, requestId }, role };
}

/**
 * For members of the team named in the input whose role has that right; both are checked at every call. The services'
 * `ctx` comes as `ctx.service`.
 */
export const inTeam = (right: Right) =>
  signedIn
    .meta({ right })
    .input(InTeam)
    .use(async ({ ctx, input, next }) => next({ ctx: enterTeam(ctx, ctx.signedInAs, input.team, right) }));
