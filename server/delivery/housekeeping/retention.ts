import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { claimRetention, expireBatch, finishRetention, type RetentionStage } from "./expired-emails";

/** Emails per transaction. A small number keeps row locks short. */
const emailsPerStep = 200;
/** Steps for one team before the next team's claim. */
const stepsPerClaim = 50;

/**
 * Applies the teams' retention rules: after the retention periods it erases the content of terminal emails and then deletes
 * the emails. It works in small steps and stops between them when `shouldContinue` returns false; the next run continues
 * there. If no team is due, it costs one index lookup.
 */
export async function applyRetention({ hot, log }: WorkerDeps, shouldContinue: () => boolean): Promise<void> {
  while (shouldContinue()) {
    const claim = await claimRetention(hot, newId());
    if (!claim) return;
    const stoppedAt = { ...claim.after };
    const removed: Record<RetentionStage, number> = { bodies: 0, emails: 0 };
    for (const stage of ["bodies", "emails"] as const) {
      for (let step = 0; stoppedAt[stage] !== null && step < stepsPerClaim && shouldContinue(); step++) {
        const done = await expireBatch(hot, claim, stage, { after: stoppedAt[stage], limit: emailsPerStep });
        stoppedAt[stage] = done.last;
        removed[stage] += done.removed;
      }
    }
    await finishRetention(hot, claim, stoppedAt);
    if (removed.bodies + removed.emails > 0)
      log.info("retention.taken", { teamId: claim.teamId, ...removed });
  }
}
