import type { inferRouterOutputs } from "@trpc/server";
import { z } from "zod";
import { countWaiting, purgeQueue, waitingCountMax } from "#server/services/emails/change/purge";
import { listPauses, type Pause, pauseQueue, resumeQueue } from "#server/services/pauses/pause";
import { reasonCharsMax } from "#server/services/pauses/reason";
import { findScope, nameScope } from "#server/services/pauses/scope";
import { getQueueTotals, QUEUE_STATES } from "#server/services/pauses/totals";
import { withIsoTimes } from "#server/shared/wire/shapes";
import { asOperator, NoInput, router } from "../init";

/** The queue of the installation (both null), of a team by id or name, or of one of its sender domains. */
const SCOPE = { team: z.string().trim().max(100).nullable(), domain: z.string().trim().max(253).nullable() };
const Scope = z.strictObject(SCOPE);
const reason = z.string().max(2 * reasonCharsMax);

const viewPause = ({ releasedAt: _, ...pause }: Pause) => withIsoTimes(pause);

/** The queues, with their pauses. */
export const queuesRouter = router({
  status: asOperator.input(NoInput).query(async ({ ctx: { operator } }) => {
    const [totals, active, lifted] = await Promise.all([
      getQueueTotals(operator),
      listPauses(operator, "active"),
      listPauses(operator, "lifted"),
    ]);
    return {
      states: QUEUE_STATES.map((state) => ({
        id: state,
        count: totals.states[state].count,
        oldestDueAt: totals.states[state].oldestDueAt?.toISOString() ?? null,
      })),
      isComplete: totals.isComplete,
      pauses: active.map(viewPause),
      lifted: lifted.map(viewPause),
    };
  }),
  pause: asOperator
    .input(z.strictObject({ ...SCOPE, reason }))
    .mutation(async ({ ctx: { operator }, input }) =>
      pauseQueue(operator, { ...(await findScope(operator, input)), reason: input.reason }),
    ),
  resume: asOperator
    .input(Scope)
    .mutation(async ({ ctx: { operator }, input }) =>
      resumeQueue(operator, await findScope(operator, input)),
    ),
  /** What a purge would cancel, and the name that confirms it. */
  waiting: asOperator.input(Scope).query(async ({ ctx: { operator }, input }) => {
    const scope = await nameScope(operator, await findScope(operator, input));
    const { name } = scope;
    const count = await countWaiting(operator, scope);
    return { name, count, hasMore: count === waitingCountMax };
  }),
  /** Cancels one batch; `next` starts the next one. */
  purge: asOperator
    .input(
      z.strictObject({
        ...SCOPE,
        reason,
        confirm: z.string().max(200),
        next: z.string().max(1_000).nullable(),
      }),
    )
    .mutation(async ({ ctx: { operator }, input: { next, reason, confirm, ...given } }) =>
      purgeQueue(operator, { ...(await findScope(operator, given)), reason, confirm, after: next }),
    ),
});

type Status = inferRouterOutputs<typeof queuesRouter>["status"];
export type QueueStatus = Status;
export type PauseRow = Status["pauses"][number];
