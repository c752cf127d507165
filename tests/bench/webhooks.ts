import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { createOutside } from "#server/platform/egress/outside";
import { createWebhook } from "#server/services/webhooks/endpoints";
import { listenOnLoopback } from "../support/servers/free-port";
import type { Place } from "./bench-database";
import type { DeliverCommands } from "./deliver-child";
import { fillEmails } from "./fill-emails";
import { compareSides } from "./measure";
import { type Line, perSecond } from "./report";
import { startChild } from "./start-child";

const eventsPerRun = 6_000;
const warmUpEvents = 8_000;
/** The most concurrent attempts of one endpoint. */
const connections = 32;
const runMaxMs = 120_000;

/** Events to one endpoint, from claim to recorded attempt, beside the same requests by `fetch` in a loop. */
export async function measureWebhooks(place: Place): Promise<Line[]> {
  const database = await place.openDatabase();
  const { hot, teamId } = database;
  const receiver = await openReceiver();
  const url = `http://127.0.0.1:${receiver.port}/`;
  const env = { BACKSTAMP_EGRESS_ALLOW: "127.0.0.0/8" };
  const engine = await startChild<DeliverCommands>("deliver-child.ts");
  const plain = await startChild<DeliverCommands>("deliver-child.ts");
  try {
    await createWebhook(
      { ...database.ctx, outside: createOutside({ allow: [env.BACKSTAMP_EGRESS_ALLOW] }) },
      { url, events: ["email.delivered", "email.bounced"], status: "enabled" },
    );
    const countOf = ({ isWarmUp }: { isWarmUp: boolean }) => (isWarmUp ? warmUpEvents : eventsPerRun);
    return [
      await compareSides({
        what: `webhook events to one endpoint, ${connections} at once, claim to recorded attempt`,
        async measured(run) {
          await hot`truncate emails, email_bodies, email_events, deliveries, webhook_deliveries, webhook_attempts`;
          await fillEmails(hot, teamId, countOf(run));
          const startedMs = performance.now();
          await engine.ask("startEngine", { databaseUrl: database.url, smtpUrl: null, env });
          await allSent();
          const tookMs = performance.now() - startedMs;
          await engine.ask("stopEngine");
          return countOf(run) / (tookMs / 1_000);
        },
        async reference(run) {
          const request = { url, body: receiver.lastBody(), connections, count: countOf(run) };
          const { tookMs } = await plain.ask("postPlain", request);
          return countOf(run) / (tookMs / 1_000);
        },
        beside: "`fetch` in a loop, the same body and concurrency",
        format: (rate) => perSecond(rate, "events"),
        budget: { atLeast: 0.5 },
      }),
    ];
  } finally {
    await Promise.all([engine.end(), plain.end()]);
    receiver.close();
    await database.drop();
  }

  async function allSent(): Promise<void> {
    const untilMs = performance.now() + runMaxMs;
    const isOpen = async () => {
      const [row] = await hot<{ is: boolean }[]>`
        select exists (select from webhook_deliveries where status in ('pending', 'attempting')) as is`;
      return row?.is;
    };
    while (await isOpen()) {
      if (performance.now() > untilMs) throw new Error("Not every event was sent in time.");
      await wait(25);
    }
    const failed = await hot`select from webhook_attempts where status_code is distinct from 200 limit 1`;
    if (failed.length > 0) throw new Error("An attempt failed.");
  }
}

/** Reads requests and responds with 200. */
async function openReceiver() {
  let lastBody = "";
  const server = createServer(async (request, response) => {
    lastBody = await text(request);
    response.end();
  });
  const port = await listenOnLoopback(server);
  return { port, lastBody: () => lastBody, close: () => server.close() };
}
