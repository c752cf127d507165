import { z } from "zod";
import { ROLES } from "#db/schema/teams";
import { changeRole, leaveTeam, removeMember } from "#server/services/members/change";
import { listMembers } from "#server/services/members/read";
import { presentMember } from "#server/shared/wire/people/team";
import { inTeam, router } from "../init";

/** A member in the list of the console. */
export type MemberRow = ReturnType<typeof presentMember> & { isSelf: boolean };

const userId = z.string().max(60);

/**
 * The members of a team. The service checks, under its lock on the members, which roles a member can change.
 */
export const membersRouter = router({
  list: inTeam("team:read").query(async ({ ctx }) =>
    (await listMembers(ctx.service)).map((member): MemberRow => {
      return { ...presentMember(member), isSelf: member.userId === ctx.signedInAs.user.id };
    }),
  ),
  changeRole: inTeam("members:write", { userId, role: z.enum(ROLES) }).mutation(
    ({ ctx, input: { userId, role } }) => changeRole(ctx.service, { userId, role }),
  ),
  remove: inTeam("members:write", { userId }).mutation(({ ctx, input }) =>
    removeMember(ctx.service, input.userId),
  ),
  leave: inTeam("team:read").mutation(({ ctx }) => leaveTeam(ctx.service)),
});
