import { z } from "zod";
import { UNKNOWN_POLICIES } from "#db/schema/teams";
import { readRetention, retentionDaysMax, setRetention } from "#server/services/retention";
import { changeTeam, foundTeam, readTeamRules } from "#server/services/teams";
import { inTeam, router, signedIn } from "./init";
import { NoMore, strictInput } from "./strict";

const TeamName = z
  .string()
  .trim()
  .min(1, "Give the team a name.")
  .max(100, "Give the team a name of at most 100 characters.");

const Days = z.int().min(1).max(retentionDaysMax).nullable();

export const teamRouter = router({
  /** Makes another team, for people who run one already. */
  create: signedIn.input(z.strictObject({ name: TeamName })).mutation(async ({ ctx, input }) => {
    const { user, memberships } = ctx.signedInAs;
    const founder = { userId: user.id, requestId: ctx.requestId };
    const { id } = await foundTeam(ctx.deps, { name: input.name, founder, memberships });
    return { id };
  }),
  settings: inTeam("team:read")
    .input(NoMore)
    .query(async ({ ctx }) => {
      const [rules, kept] = await Promise.all([readTeamRules(ctx.service), readRetention(ctx.service)]);
      const { name, unknown, dailyCap, handedOverToday } = rules;
      const { bodiesDays, emailsDays } = kept;
      return { name, unknown, dailyCap, handedOverToday, kept: { bodiesDays, emailsDays } };
    }),
  change: inTeam("team:write")
    .input(strictInput({ name: TeamName.optional(), unknown: z.enum(UNKNOWN_POLICIES).optional() }))
    .mutation(({ ctx, input: { name, unknown } }) =>
      changeTeam(ctx.service, {
        ...(name === undefined ? {} : { name }),
        ...(unknown === undefined ? {} : { unknown }),
      }),
    ),
  /** How many days mail is kept; null: for good. */
  keep: inTeam("team:write")
    .input(strictInput({ bodiesDays: Days, emailsDays: Days }))
    .mutation(({ ctx, input: { bodiesDays, emailsDays } }) =>
      setRetention(ctx.service, { bodiesDays, emailsDays }),
    ),
});
