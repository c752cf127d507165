import { z } from "zod";
import { ROLES } from "#db/schema/teams";
import { acceptAsNew, acceptAsUser, getInvitation } from "#server/services/members/invitations/accept";
import { listInvitations } from "#server/services/members/invitations/read";
import { inviteMember, renewInvitation } from "#server/services/members/invitations/send";
import { withdrawInvitation } from "#server/services/members/invitations/withdraw";
import { presentInvitationPreview } from "#server/shared/wire/people/invitation";
import { presentRow } from "#server/shared/wire/shapes";
import { inTeam, open, router, signedIn } from "../init";

const id = z.uuid();
const token = z.string().max(200);
const email = z.string().trim().min(1, "Enter an email address.").max(320);

export const invitationsRouter = router({
  list: inTeam("members:write").query(async ({ ctx }) =>
    (await listInvitations(ctx.service)).map(presentRow),
  ),
  /** Returns the link, only in this response. */
  create: inTeam("members:write", { email, role: z.enum(ROLES) }).mutation(
    async ({ ctx, input: { email, role } }) => presentRow(await inviteMember(ctx.service, { email, role })),
  ),
  /** Returns the new link, only in this response; the previous link becomes invalid. */
  renew: inTeam("members:write", { id }).mutation(async ({ ctx, input }) =>
    presentRow(await renewInvitation(ctx.service, input.id)),
  ),
  withdraw: inTeam("members:write", { id }).mutation(({ ctx, input }) =>
    withdrawInvitation(ctx.service, input.id),
  ),

  /** Changes nothing, but is a POST: the token must not appear in a URL that servers log. */
  read: open.input(z.strictObject({ token })).mutation(async ({ ctx, input }) => {
    const session = await ctx.session();
    const invitation = await getInvitation(ctx.deps, { token: input.token, address: ctx.visitor.address });
    return { ...presentInvitationPreview(invitation), signedInAs: session?.user.email ?? null };
  }),
  /** Creates the invited user with the chosen password. */
  accept: open
    .input(
      z.strictObject({
        token,
        name: z.string().trim().max(100, "Enter a name of at most 100 characters."),
        password: z.string().max(1_000),
      }),
    )
    .mutation(async ({ ctx, input }) => {
      const { requestId, visitor } = ctx;
      const { user, teamId } = await acceptAsNew(ctx.deps, { ...input, address: visitor.address, requestId });
      return { email: user.email, teamId };
    }),
  /** Adds the signed-in user to the team. */
  join: signedIn.input(z.strictObject({ token })).mutation(({ ctx, input }) =>
    acceptAsUser(ctx.deps, {
      token: input.token,
      user: ctx.signedInAs.user,
      requestId: ctx.requestId,
    }),
  ),
});
