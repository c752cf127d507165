import { z } from "zod";
import { ROLES } from "#db/schema/teams";
import { acceptAsNew, acceptAsUser, lookAtInvitation } from "#server/services/invitations/accept";
import { listInvitations } from "#server/services/invitations/read";
import { inviteMember, renewInvitation } from "#server/services/invitations/send";
import { withdrawInvitation } from "#server/services/invitations/withdraw";
import { inTeam, open, router, signedIn } from "./init";
import { viewHeldInvitation, viewInvitation, viewInvited } from "./member-views";
import { NoMore, strictInput } from "./strict";

const id = z.uuid();
const token = z.string().max(200);
const email = z.string().trim().min(1, "Give an email address.").max(320);

export const invitationsRouter = router({
  list: inTeam("members:write")
    .input(NoMore)
    .query(async ({ ctx }) => (await listInvitations(ctx.service)).map(viewInvitation)),
  /** The link is told here, and nowhere else. */
  create: inTeam("members:write")
    .input(strictInput({ email, role: z.enum(ROLES) }))
    .mutation(async ({ ctx, input: { email, role } }) =>
      viewInvited(await inviteMember(ctx.service, { email, role })),
    ),
  /** The new link is told here, and nowhere else; the one before it opens nothing any more. */
  renew: inTeam("members:write")
    .input(strictInput({ id }))
    .mutation(async ({ ctx, input }) => viewInvited(await renewInvitation(ctx.service, input.id))),
  withdraw: inTeam("members:write")
    .input(strictInput({ id }))
    .mutation(({ ctx, input }) => withdrawInvitation(ctx.service, input.id)),

  /** Changes nothing, but comes by POST: what opens a team must stand in no address that a server writes down. */
  look: open.input(z.strictObject({ token })).mutation(async ({ ctx, input }) => {
    const session = await ctx.session();
    const seen = await lookAtInvitation(ctx.deps, { token: input.token, address: ctx.visitor.address });
    return viewHeldInvitation(seen, session?.user.email ?? null);
  }),
  /** Makes the person who was invited. They sign in by what they chose. */
  accept: open
    .input(
      z.strictObject({
        token,
        name: z.string().trim().max(100, "Give a name of at most 100 characters."),
        password: z.string().max(1_000),
      }),
    )
    .mutation(async ({ ctx, input }) => {
      const { requestId, visitor } = ctx;
      const { user, teamId } = await acceptAsNew(ctx.deps, { ...input, address: visitor.address, requestId });
      return { email: user.email, teamId };
    }),
  /** Lets whoever is signed in into the team. */
  join: signedIn.input(z.strictObject({ token })).mutation(({ ctx, input }) =>
    acceptAsUser(ctx.deps, {
      token: input.token,
      user: ctx.signedInAs.user,
      requestId: ctx.requestId,
    }),
  ),
});
