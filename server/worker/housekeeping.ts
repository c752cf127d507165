import { forgetAccountRecords } from "#db/account-records";
import { letGoHeldOver } from "#db/caps";
import { recoverExpired } from "#db/expiry";
import { unparkDeliveries } from "#db/queue";
import { unparkRelayed } from "#db/relays";
import type { WorkerDeps } from "#server/deps";
import { newId } from "#server/ids";

const recoverBatch = 500;
const unparkBatch = 1_000;
const letGoBatch = 20_000;
const forgetBatch = 1_000;

/** Says that this worker lives, and what it can deliver with. Readiness and the console read it. */
export async function beat(
  deps: WorkerDeps,
  worker: { id: string; host: string; pid: number },
): Promise<void> {
  const transport = deps.transport?.name ?? "none";
  await deps.hot`
    insert into workers (id, host, pid, transport) values (${worker.id}, ${worker.host}, ${worker.pid}, ${transport})
    on conflict (id) do update set beat_at = now(), transport = excluded.transport`;
}

/** Takes back the heartbeat of a worker that stops in order. */
export async function withdrawBeat(deps: WorkerDeps, id: string): Promise<void> {
  await deps.hot`delete from workers where id = ${id}`;
}

/**
 * What has to be done now and then, each bounded: leases that ran out are settled, mail that waited for a transport is
 * made due where there is one, and mail that was held over for a cap where there is room again, expired idempotency
 * records, what no longer counts of signing in, and the heartbeats of workers long gone are forgotten. Tells how many deliveries became due.
 */
export async function sweep(deps: WorkerDeps): Promise<number> {
  const { hot, log } = deps;
  const recovered = await recoverExpired(hot, newId, recoverBatch);
  for (const { id, emailId, stage, status } of recovered)
    log.warn("delivery.lease_expired", { deliveryId: id, emailId, stage, status });
  const unparked = await (deps.transport ? unparkDeliveries : unparkRelayed)(hot, unparkBatch);
  const letGo = await letGoHeldOver(hot, letGoBatch);
  await hot`
    delete from idempotency_keys where (team_id, route, key) in
      (select team_id, route, key from idempotency_keys where expires_at < now() limit ${forgetBatch})`;
  await hot`delete from workers where beat_at < now() - interval '1 day'`;
  await forgetAccountRecords(hot, forgetBatch);
  return recovered.length + unparked + letGo;
}
