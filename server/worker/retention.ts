import { claimRetention, endRetention, type RetentionStage, takeOld } from "#db/retention";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/ids";

/** Mails looked at in one transaction: few enough that nobody waits for their rows. */
const mailsPerStep = 200;
/** Of one team, before the next one's turn. */
const stepsPerTurn = 50;

/**
 * Erases what old mails say, and deletes old mails, where a team wants that and nothing can happen to them any more. In small
 * steps, between which it stops when told to; what is left is done the next time. Costs one look into an index where no
 * team is due, and most have no rule at all.
 */
export async function keepRetention({ hot, log }: WorkerDeps, mayGoOn: () => boolean): Promise<void> {
  while (mayGoOn()) {
    const turn = await claimRetention(hot, newId());
    if (!turn) return;
    const at: Record<RetentionStage, string | null> = { bodies: null, emails: null };
    const taken: Record<RetentionStage, number> = { bodies: 0, emails: 0 };
    for (const stage of ["bodies", "emails"] as const) {
      at[stage] = turn.stages[stage]?.after ?? null;
      for (let step = 0; at[stage] !== null && step < stepsPerTurn && mayGoOn(); step++) {
        const done = await takeOld(hot, turn, stage, { after: at[stage], limit: mailsPerStep });
        at[stage] = done.last;
        taken[stage] += done.taken;
      }
    }
    await endRetention(hot, turn, at);
    if (taken.bodies + taken.emails > 0) log.info("retention.taken", { teamId: turn.teamId, ...taken });
  }
}
