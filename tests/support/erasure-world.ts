import { tick } from "#server/delivery/tick";
import { type Erasure, listErasures, requestErasure } from "#server/services/erasures/request";
import { runErasures } from "#server/services/erasures/run";
import { readTables } from "./database/tenants";
import type { DepsOptions } from "./deps";
import { createWebhookWorld, type WebhookWorld } from "./webhook-world";

/** The person whose data is erased. */
export const ANN = "ann.lee@example.net";
export const ERASED = "erased@erased.invalid";

/** Tables with people of the console and with the erasure itself. */
const OTHER_TABLES = ["users", "invitations", "sign_in_counters"];

export type ErasureWorld = WebhookWorld & {
  sendMail(mail: Record<string, unknown>): Promise<string>;
  deliver(): Promise<void>;
  requestErasure(options?: { address?: string; suppresses?: boolean }): Promise<Erasure>;
  /** The erasures that are due, until they wait. */
  runErasures(): Promise<void>;
  /** The request and the two passes of an erasure that waits for nothing. */
  erase(options?: { address?: string; suppresses?: boolean }): Promise<Erasure>;
  /** The newest erasure. */
  erasure(): Promise<Erasure | undefined>;
  /** The recipients of an email with their statuses. */
  statuses(emailId: string): Promise<string[]>;
  /** Tables with the address, in any letter case, as text or bytes. */
  tablesWith(address: string): Promise<string[]>;
};

export async function createErasureWorld(options: DepsOptions = {}): Promise<ErasureWorld> {
  const world = await createWebhookWorld(options);
  // The log of the API's requests is flushed by a real clock, so it is flushed here before each step.
  const request: ErasureWorld["requestErasure"] = async ({ address = ANN, suppresses = false } = {}) => {
    await world.deps.requestLog.flush();
    return requestErasure(world.ctx, { address, suppresses });
  };
  const run = async () => {
    await world.deps.requestLog.flush();
    await runErasures(world.deps, () => true);
  };
  return {
    ...world,
    sendMail: (mail) => world.sendByApi({ from: "Sales <sales@example.org>", ...mail }),
    deliver: () => tick(world.worker, { budgetMs: 60_000 }),
    requestErasure: request,
    runErasures: run,
    async erase(input) {
      const erasure = await request(input);
      await run();
      await world.elapse("2 min");
      await run();
      return erasure;
    },
    erasure: async () => (await listErasures(world.ctx))[0],
    statuses: async (id) =>
      (await world.email(id)).deliveries.map(({ address, status }) => `${address} ${status}`),
    async tablesWith(address) {
      // With the character before it, so that a longer address is not found.
      const hex = `(20|3c|22|3a|0a|3e)${Buffer.from(address).toString("hex")}`;
      const tables = (await readTables(world.hot)).filter(({ name }) => !OTHER_TABLES.includes(name));
      const parts = tables.map(
        ({ name }) =>
          `select '${name}' as name where exists (select from "${name}" t
            where lower(to_jsonb(t)::text) ~ ('(^|[^a-z.])' || $1) or to_jsonb(t)::text ~ $2)`,
      );
      const found = await world.hot.unsafe<{ name: string }[]>(
        parts.join(" union all "),
        [address.replaceAll(".", "\\."), hex],
        { prepare: true },
      );
      return found.map(({ name }) => name);
    },
  };
}
