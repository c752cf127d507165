import type { WorkerDeps } from "#server/deps";

/**
 * Records the worker's heartbeat, the name of its transport and the secrets that it has. Readiness, the
 * console and `secret rotate` read it.
 */
export async function recordHeartbeat(
  deps: WorkerDeps,
  worker: { id: string; host: string; pid: number },
): Promise<void> {
  const transport = deps.transport?.name ?? "none";
  const secretIds = deps.keyring.keys.map(({ id }) => id);
  await deps.hot`
    insert into workers (id, host, pid, transport, secret_ids)
    values (${worker.id}, ${worker.host}, ${worker.pid}, ${transport}, ${secretIds}::text[])
    on conflict (id) do update
    set beat_at = now(), host = excluded.host, pid = excluded.pid, transport = excluded.transport,
      secret_ids = excluded.secret_ids`;
}

/** Deletes the heartbeat of a worker that stops gracefully. */
export async function deleteHeartbeat(deps: WorkerDeps, id: string): Promise<void> {
  await deps.hot`delete from workers where id = ${id}`;
}
