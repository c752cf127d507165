import type { inferRouterOutputs } from "@trpc/server";
import { z } from "zod";
import { RELEASE } from "#db/compatibility";
import { reauthenticate } from "#server/services/account/reauthenticate";
import { listDestinationLimits } from "#server/services/destinations/limits";
import { listDestinations } from "#server/services/destinations/list";
import { listReplyRules } from "#server/services/destinations/reply-rules";
import { sortFindings } from "#server/services/doctor/run";
import { getReadiness } from "#server/services/health";
import { listTeamSummaries } from "#server/services/overview/teams";
import { listWorkers } from "#server/services/overview/workers";
import {
  cancelTeamDeletion,
  listDeletions,
  presentDeletion,
  requestTeamDeletion,
} from "#server/services/team-deletions/request";
import { withIsoTimes } from "#server/shared/wire/shapes";
import { asOperator, CURSOR, NoInput, router } from "../init";

const teamRows = 25;

const TeamsInput = z.strictObject({
  search: z.string().trim().max(100).optional(),
  ...CURSOR,
});

/** The installation, for its operators. */
export const installationRouter = router({
  /** Whether accepted email can be sent, and the processes that send it. */
  status: asOperator.input(NoInput).query(async ({ ctx: { operator } }) => {
    const [readiness, workers] = await Promise.all([getReadiness(operator), listWorkers(operator)]);
    return {
      release: RELEASE,
      readiness,
      workers: withIsoTimes(workers),
    };
  }),
  /**
   * The destinations with what their replies taught, the operator's limits, and the transport: both apply to
   * direct delivery only.
   */
  destinations: asOperator.input(NoInput).query(async ({ ctx: { operator } }) => {
    const [states, limits] = await Promise.all([listDestinations(operator), listDestinationLimits(operator)]);
    return {
      transport: operator.transportKind,
      states: states.map((state) => withIsoTimes({ id: `${state.destination} ${state.source}`, ...state })),
      rows: limits.map((limit) => withIsoTimes({ id: limit.domain, ...limit })),
    };
  }),
  /** The operator's rules for replies of mail servers. */
  replyRules: asOperator.input(NoInput).query(async ({ ctx: { operator } }) => ({
    rows: (await listReplyRules(operator)).map((rule) =>
      withIsoTimes({
        id: rule.name,
        ...rule,
        isExpired: rule.expiresAt !== null && rule.expiresAt <= operator.clock(),
      }),
    ),
  })),
  /**
   * Runs the doctor in a web process, or returns its report of the last 30 s. It changes nothing and sends no
   * email.
   */
  examine: asOperator.input(NoInput).mutation(async ({ ctx: { deps } }) => {
    const { status, findings, at } = await deps.examine();
    return withIsoTimes({ status, at, findings: sortFindings(findings) });
  }),
  /** The deletions of teams, newest first, with those that were canceled. */
  deletions: asOperator
    .input(NoInput)
    .query(async ({ ctx: { operator } }) => (await listDeletions(operator)).map(presentDeletion)),
  /**
   * Requires the team's name, and the operator's password or a code. The waiting period is that of a request
   * by an owner.
   */
  requestDeletion: asOperator
    .input(z.strictObject({ teamId: z.uuid(), confirm: z.string().max(200), proof: z.string().max(300) }))
    .mutation(async ({ ctx, input: { teamId, confirm, proof } }) => {
      const { user, id: sessionId } = ctx.signedInAs;
      await reauthenticate(ctx.deps, { user, sessionId, visitor: ctx.visitor }, proof);
      return presentDeletion(await requestTeamDeletion({ ...ctx.operator, teamId }, { confirm }));
    }),
  /** Cancels a requested deletion, also that of an owner, before it starts. */
  cancelDeletion: asOperator
    .input(z.strictObject({ teamId: z.uuid() }))
    .mutation(async ({ ctx: { operator }, input: { teamId } }) =>
      presentDeletion(await cancelTeamDeletion({ ...operator, teamId })),
    ),
  /** The teams, newest first, with what waits in their queues. */
  teams: asOperator
    .input(TeamsInput)
    .query(async ({ ctx: { operator }, input: { search, after, before } }) => {
      const query = { limit: teamRows, ...(after && { after }), ...(before && { before }) };
      return withIsoTimes(await listTeamSummaries(operator, { ...query, ...(search && { search }) }));
    }),
});

type Outputs = inferRouterOutputs<typeof installationRouter>;
export type InstallationStatus = Outputs["status"];
export type DestinationState = Outputs["destinations"]["states"][number];
export type DestinationRow = Outputs["destinations"]["rows"][number];
export type ReplyRuleRow = Outputs["replyRules"]["rows"][number];
export type DoctorReport = Outputs["examine"];
export type TeamRow = Outputs["teams"]["rows"][number];
