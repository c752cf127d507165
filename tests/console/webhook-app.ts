import { afterEach } from "vitest";
import type { DeliveryRow, EndpointView } from "#server/trpc/webhooks/views";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";
import { type HttpSink, type SinkReply, startHttpSink } from "../support/servers/http-sink";

/** A console with one team, and the calls of its pages about webhooks. It closes after the tests. */
export async function openWebhookApp() {
  let sinks: HttpSink[] = [];
  const console = await openConsole();
  const ann = await createRoleTeam(console, "Ann's");
  afterEach(async () => {
    // Otherwise the next test's worker sends them.
    await console.world.hot`delete from webhook_deliveries`;
    await Promise.all(sinks.map((sink) => sink.close()));
    sinks = [];
  });
  const asAdmin = <Result>(procedure: string, input: object = {}) =>
    ann.data<Result>("admin", `webhooks.${procedure}`, input);
  return {
    console,
    ann,
    asAdmin,
    /** A test server on loopback, and an endpoint with its URL. */
    async endpoint(reply: () => SinkReply = () => 204, events: string[] = ["email.delivered"]) {
      const sink = await startHttpSink(reply);
      sinks.push(sink);
      const url = `http://127.0.0.1:${sink.port}/hooks`;
      const { id } = await asAdmin<{ id: string }>("create", { url, events });
      return { id, url, sink };
    },
    get: (id: string) => asAdmin<EndpointView>("get", { id }),
    deliveries: async (id: string, filter: object = {}) =>
      (await asAdmin<{ rows: DeliveryRow[] }>("deliveries", { id, ...filter })).rows,
    round: console.deliver,
    sendTest: (id: string) => asAdmin<{ id: string }>("test", { id, type: "email.delivered" }),
  };
}
