import { TICK_WORKER_ID } from "#db/schema/deliveries";
import { AppError } from "#server/platform/errors";
import {
  admitKeyring,
  changeRegistry,
  findActive,
  listRegisteredSecrets,
  type RegistryDeps,
  refreshKeyring,
} from "./registry";

/**
 * Time between the activation of a secret and the first email that it signs. It must exceed the time after
 * which workers learn of the activation: two attempts of one email must have the same bytes.
 */
const signsAfterMs = 120_000;
/** Maximum age of a heartbeat of a worker that runs, and of one that runs on a schedule. */
const workerBeatSecondsMax = 30;
const tickBeatSecondsMax = 600;

/**
 * Whether the configured secret waits for its activation. One that was replaced does not: no secret is
 * activated twice.
 */
export async function isActivationDue({ hot, keyring }: RegistryDeps): Promise<boolean> {
  const registry = await listRegisteredSecrets(hot);
  const wasActive = registry.some(({ id, activeFromMs }) => id === keyring.given.id && activeFromMs !== null);
  return findActive(registry) !== null && !wasActive;
}

/** Whether a secret is active that does not encrypt everything that a former one encrypted yet. */
export async function isResealDue({ hot }: RegistryDeps): Promise<boolean> {
  const registry = await listRegisteredSecrets(hot);
  const periods = registry.filter(({ activeFromMs }) => activeFromMs !== null);
  return periods.length > 1 && !findActive(registry)?.isResealed;
}

/**
 * Makes the configured secret the one that seals and signs, in all processes. AppError `conflict` if a worker
 * runs that does not know it, or if it was active before: email of its former period would then be signed
 * with another key. `isAlone`: no other process uses the database, so workers that have left a heartbeat do
 * not count.
 */
export async function activateSecret(
  deps: RegistryDeps,
  { isAlone = false }: { isAlone?: boolean } = {},
): Promise<void> {
  const { id } = deps.keyring.given;
  await admitKeyring(deps);
  await changeRegistry(deps.hot, async (tx) => {
    const registry = await listRegisteredSecrets(tx);
    if (findActive(registry)?.id === id) return;
    if (registry.some((secret) => secret.id === id && secret.activeFromMs !== null))
      throw new AppError(
        "conflict",
        "BACKSTAMP_SECRET was already used and replaced. Run secret rotate with the newer secret to generate another one.",
      );
    const [worker] = isAlone
      ? []
      : await tx<{ host: string; pid: number }[]>`
          select host, pid from workers
          where beat_at > now() - case when id = ${TICK_WORKER_ID} then ${tickBeatSecondsMax}::int
              else ${workerBeatSecondsMax}::int end * interval '1 second'
            and not coalesce(${id} = any(secret_ids), false)
          order by beat_at desc limit 1`;
    if (worker)
      throw new AppError(
        "conflict",
        `The worker on ${worker.host} (process ${worker.pid}) was started without the new secret. Restart all processes with it, then run this command again.`,
      );
    const { count } = await tx`
      update installation_secrets
      set active_from = now() + ${signsAfterMs} * interval '1 ms', resealed_at = null where id = ${id}`;
    if (count !== 1) throw new Error("the secret to activate is not registered");
  });
  await refreshKeyring(deps);
}
