import { z } from "zod";
import { ROLES } from "#db/schema/teams";
import { changeRole, leaveTeam, removeMember } from "#server/services/members/change";
import { listMembers } from "#server/services/members/read";
import { inTeam, router } from "./init";
import { viewMember } from "./member-views";
import { NoMore, strictInput } from "./strict";

const userId = z.string().max(60);

/** Who is in the team. What a role may do to another is judged where the members are held, in the service. */
export const membersRouter = router({
  list: inTeam("team:read")
    .input(NoMore)
    .query(async ({ ctx }) =>
      (await listMembers(ctx.service)).map((member) => viewMember(member, ctx.signedInAs.user.id)),
    ),
  changeRole: inTeam("members:write")
    .input(strictInput({ userId, role: z.enum(ROLES) }))
    .mutation(({ ctx, input: { userId, role } }) => changeRole(ctx.service, { userId, role })),
  remove: inTeam("members:write")
    .input(strictInput({ userId }))
    .mutation(({ ctx, input }) => removeMember(ctx.service, input.userId)),
  leave: inTeam("team:read")
    .input(NoMore)
    .mutation(({ ctx }) => leaveTeam(ctx.service)),
});
