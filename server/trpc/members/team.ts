import { z } from "zod";
import { UNKNOWN_POLICIES } from "#db/schema/teams";
import { reauthenticate } from "#server/services/account/reauthenticate";
import { getRetention, retentionDaysMax, setRetention } from "#server/services/retention";
import { getCopies, setCopies } from "#server/services/returns/copies/mailboxes";
import {
  cancelTeamDeletion,
  findDeletion,
  presentDeletion,
  requestTeamDeletion,
} from "#server/services/team-deletions/request";
import { createOwnTeam, getTeamRules, updateTeam } from "#server/services/teams";
import { presentTeam } from "#server/shared/wire/people/team";
import { inTeam, router, signedIn } from "../init";

const TeamName = z
  .string()
  .trim()
  .min(1, "Enter a team name.")
  .max(100, "Enter a team name of at most 100 characters.");

const Days = z.int().min(1).max(retentionDaysMax).nullable();

const DomainId = z.string().max(60).nullable();
const Address = z.string().trim().min(1).max(320).nullable();

export const teamRouter = router({
  /** Creates another team, for users who already own one. */
  create: signedIn.input(z.strictObject({ name: TeamName })).mutation(async ({ ctx, input }) => {
    const { user, memberships } = ctx.signedInAs;
    const founder = { userId: user.id, requestId: ctx.requestId };
    const { id } = await createOwnTeam(ctx.deps, { name: input.name, founder, memberships });
    return { id };
  }),
  settings: inTeam("team:read").query(async ({ ctx: { service } }) =>
    presentTeam(...(await Promise.all([getTeamRules(service), getRetention(service)]))),
  ),
  change: inTeam("team:write", {
    name: TeamName.optional(),
    unknown: z.enum(UNKNOWN_POLICIES).optional(),
  }).mutation(({ ctx, input: { name, unknown } }) => updateTeam(ctx.service, { name, unknown })),
  /** The requested deletion of the team; null if there is none. */
  deletion: inTeam("team:read").query(async ({ ctx: { service } }) => {
    const deletion = await findDeletion(service, service.teamId);
    return deletion && presentDeletion(deletion);
  }),
  /** Requires the team's name, and a password or a code. */
  requestDeletion: inTeam("owners:write", {
    confirm: z.string().max(200),
    proof: z.string().max(300),
  }).mutation(async ({ ctx, input: { confirm, proof } }) => {
    const { user, id: sessionId } = ctx.signedInAs;
    await reauthenticate(ctx.deps, { user, sessionId, visitor: ctx.visitor }, proof);
    return presentDeletion(await requestTeamDeletion(ctx.service, { confirm }));
  }),
  cancelDeletion: inTeam("owners:write").mutation(async ({ ctx }) =>
    presentDeletion(await cancelTeamDeletion(ctx.service)),
  ),
  /** The mailboxes that have copies of bounces and replies, of the team or of one of its domains. */
  copies: inTeam("team:read", { domain: DomainId }).query(({ ctx: { service }, input: { domain } }) =>
    getCopies(service, domain),
  ),
  /** Null: a domain has those of the team, a team has none. */
  setCopies: inTeam("team:write", {
    domain: DomainId,
    mailboxes: z.strictObject({ bounceCopiesTo: Address, replyCopiesTo: Address }).nullable(),
  }).mutation(({ ctx: { service }, input: { domain, mailboxes } }) => setCopies(service, domain, mailboxes)),
  /** Retention of email in days; null keeps it forever. */
  setRetention: inTeam("team:write", { bodiesDays: Days, emailsDays: Days }).mutation(
    ({ ctx, input: { bodiesDays, emailsDays } }) => setRetention(ctx.service, { bodiesDays, emailsDays }),
  ),
});
