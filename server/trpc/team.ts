import { z } from "zod";
import { UNKNOWN_POLICIES } from "#db/schema/teams";
import { changeTeam, foundTeam, readTeamRules } from "#server/services/teams";
import { inTeam, router, signedIn } from "./init";
import { plainText } from "./plain-text";
import { strictInput } from "./strict";

const TeamName = plainText
  .trim()
  .min(1, "Give the team a name.")
  .max(100, "Give the team a name of at most 100 characters.");

export const teamRouter = router({
  /** Makes another team, for people who run one already. */
  create: signedIn.input(z.strictObject({ name: TeamName })).mutation(async ({ ctx, input }) => {
    const { user, memberships } = ctx.signedInAs;
    const founder = { userId: user.id, requestId: ctx.requestId };
    const { id } = await foundTeam(ctx.deps, { name: input.name, founder, memberships });
    return { id };
  }),
  settings: inTeam("team:read").query(async ({ ctx }) => {
    const { name, unknown, dailyCap, handedOverToday } = await readTeamRules(ctx.service);
    return { name, unknown, dailyCap, handedOverToday };
  }),
  change: inTeam("team:write")
    .input(strictInput({ name: TeamName.optional(), unknown: z.enum(UNKNOWN_POLICIES).optional() }))
    .mutation(({ ctx, input: { name, unknown } }) =>
      changeTeam(ctx.service, {
        ...(name === undefined ? {} : { name }),
        ...(unknown === undefined ? {} : { unknown }),
      }),
    ),
});
