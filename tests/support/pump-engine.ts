import { openDatabase } from "#db/client";
import { createEngine } from "#server/delivery/engine";
import type { CountingTransport } from "./counting-transport";
import type { World } from "./world";

/** Pumps an engine until the returned function is called, which resolves when the last round has ended. */
export function pumpEngine(
  engine: Pick<ReturnType<typeof createEngine>, "pump" | "idle">,
  idleMs = 20,
): () => Promise<void> {
  let isPumping = true;
  const pumping = (async () => {
    while (isPumping) if (!(await engine.pump())) await engine.idle(idleMs);
  })();
  return () => {
    isPumping = false;
    return pumping;
  };
}

/** Starts an engine with its own connections, like a separate process. The returned function stops it. */
export function startOwnEngine(world: World, { transport }: CountingTransport): () => Promise<void> {
  const database = openDatabase(world.databaseUrl, { connectionsMax: 4 });
  const engine = createEngine({ ...world.withTransport(transport), hot: database.hot }, { dialoguesMax: 10 });
  const stopPumping = pumpEngine(engine);
  return async () => {
    await stopPumping();
    await engine.drain(1_000);
    await database.close();
  };
}
