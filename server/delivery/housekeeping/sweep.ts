import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { expireClaims } from "#server/services/domains/check/expire";
import { releaseResumed } from "#server/services/pauses/release";
import { deleteOldAccountRecords } from "#server/services/people/records";
import { deleteOldSignInCounters } from "#server/services/people/sign-in-counters";
import { requeueRelayed } from "#server/services/relays/health";
import { releaseWithoutTransport } from "../queue/claims";
import { recoverExpired } from "../queue/recover-expired";
import { releaseCapped } from "../throttle/daily-caps";

const recoverBatch = 500;
/**
 * Deliveries that one statement makes due, and statements per sweep: a million deliveries are due after a few
 * sweeps.
 */
const releasedPerBatch = 20_000;
const unparksMax = 20;
const releaseBatch = 20_000;
const deleteBatch = 1_000;
const domainClaimsBatch = 100;
/** More than requests from a few thousand client addresses can add between two sweeps. */
const countersBatch = 20_000;

/**
 * Periodic maintenance, each part bounded. It recovers expired leases, makes deliveries due that waited for a
 * transport, a daily cap or a resumed domain, and deletes expired idempotency records, domain claims that
 * were not verified in time, old account records and sign-in counters, and old heartbeats. Returns how many
 * deliveries became due.
 */
export async function sweep(deps: WorkerDeps, batches = { releasedPerBatch }): Promise<number> {
  const { hot, log } = deps;
  const recovered = await recoverExpired(hot, newId, recoverBatch);
  for (const { id, emailId, stage, status } of recovered)
    log.warn("delivery.lease_expired", { deliveryId: id, emailId, stage, status });
  const unparked = await releaseAllWithoutTransport(deps, batches.releasedPerBatch);
  const released = (await releaseCapped(hot, releaseBatch)) + (await releaseResumed(hot));
  await hot`
    delete from idempotency_keys where (team_id, route, key) in
      (select team_id, route, key from idempotency_keys where expires_at < now() limit ${deleteBatch})`;
  await hot`delete from smtp_url_relays where last_fault_at < now() - interval '30 days'`;
  await hot`delete from workers where beat_at < now() - interval '1 day'`;
  await expireClaims(deps, domainClaimsBatch);
  await deleteOldAccountRecords(hot, deleteBatch);
  await deleteOldSignInCounters(hot, countersBatch);
  return recovered.length + unparked + released;
}

/** Makes the deliveries due that waited for a transport and now have one. */
async function releaseAllWithoutTransport({ hot, transport }: WorkerDeps, batch: number): Promise<number> {
  const unpark = transport ? releaseWithoutTransport : requeueRelayed;
  let total = 0;
  for (let n = 0; n < unparksMax; n++) {
    const count = await unpark(hot, batch);
    total += count;
    if (count < batch) break;
  }
  return total;
}
