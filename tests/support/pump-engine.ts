import { openDatabase } from "#db/client";
import { createEngine } from "#server/delivery/engine";
import { sweep } from "#server/delivery/housekeeping/sweep";
import { probePausedRelays } from "#server/delivery/routing/relay-faults";
import { createRouting } from "#server/delivery/routing/routes";
import { createCopySender, createSystemEmailSender } from "#server/delivery/system-mail/deliver";
import { runWebhookRound } from "#server/delivery/webhooks/round";
import { sweepWebhooks } from "#server/delivery/webhooks/sweep";
import type { WorkerDeps } from "#server/deps";
import type { CountingTransport } from "./counting-transport";
import type { World } from "./world";

type Engine = ReturnType<typeof createEngine>;

/** Above the deadline of any attempt in a test. */
const roundMs = 60_000;

/**
 * Attempts everything that is due, like a scheduled round (`tick`), without its housekeeping, webhooks and
 * system email, which cost most of the time of a round.
 */
export async function deliverDue(deps: WorkerDeps, dialoguesMax = 5): Promise<void> {
  await sweep(deps);
  await probePausedRelays(deps);
  await runUntilEmpty(createEngine(deps, { dialoguesMax }));
}

/** Delivers the email, system email and webhook events that are due, without any housekeeping. */
export async function deliverAll(deps: WorkerDeps): Promise<void> {
  const routing = createRouting(deps);
  await runUntilEmpty(createSystemEmailSender(deps, routing));
  await runUntilEmpty(createEngine(deps, { dialoguesMax: 5, routing }));
  await routing.close();
  await runWebhookRound(deps, { leftMs: () => roundMs, mayHaveMore: () => false });
}

/** Sends the system email and the copies of returned messages that are due. */
export async function sendDueSystemEmail(deps: WorkerDeps): Promise<void> {
  const routing = createRouting(deps);
  await runUntilEmpty(createSystemEmailSender(deps, routing));
  await runUntilEmpty(createCopySender(deps, routing));
  await routing.close();
}

/** Sends the webhook events that are due. */
export async function sendDueEvents(deps: WorkerDeps): Promise<void> {
  await sweepWebhooks(deps);
  await runWebhookRound(deps, { leftMs: () => roundMs, mayHaveMore: () => false });
}

async function runUntilEmpty({ pump, idle, drain }: Pick<Engine, "pump" | "idle" | "drain">): Promise<void> {
  for (let hasMore = true; hasMore; ) {
    hasMore = await pump();
    await idle(roundMs);
  }
  await drain(roundMs);
}

/** Pumps an engine until the returned function is called, which resolves when the last round has ended. */
export function pumpEngine(engine: Pick<Engine, "pump" | "idle">, idleMs = 20): () => Promise<void> {
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
