import { createCapture } from "#server/delivery/attempt/capture";
import { tick } from "#server/delivery/tick";
import type { WorkerDeps } from "#server/deps";
import type { DepsOptions } from "./deps";
import { deliverDue, sendDueEvents } from "./pump-engine";
import { type HttpSink, type SinkScript, startHttpSink } from "./servers/http-sink";
import { createWorld, type World } from "./world";

/** One event of an endpoint as the API lists it, with its attempts, oldest first. */
export type EndpointEvent = Record<string, unknown> & {
  id: string;
  attempts_made: Record<string, unknown>[];
};

/** A Backstamp whose first team has a key with all scopes, and test servers for its endpoints. */
export type WebhookWorld = World & {
  token: string;
  worker: WorkerDeps;
  /** Starts an HTTP test server that closes with this world. */
  sink(script?: SinkScript): Promise<HttpSink>;
  /** Adds an endpoint through the API. */
  endpoint(to: HttpSink | string, events: string[]): Promise<{ id: string; secret: string }>;
  /** Sends an email through the API and returns its id. */
  sendByApi(mail?: Record<string, unknown>): Promise<string>;
  /** One round of the scheduler. */
  round(): Promise<void>;
  /** Sends the email and then the events that are due, without the housekeeping of a round. */
  sendDue(): Promise<void>;
  /** The events of an endpoint, oldest first. */
  eventsOf(webhookId: string): Promise<EndpointEvent[]>;
  /** A call of the API with the key, which must succeed. */
  ok(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
};

const MAIL = {
  from: "Ann <ann@backstamp.test>",
  to: "delivered@backstamp.test",
  subject: "Hello",
  html: "<p>Hi</p>",
};

export async function createWebhookWorld(options: DepsOptions = {}): Promise<WebhookWorld> {
  const world = await createWorld(options);
  const { token } = await world.key();
  const sinks: HttpSink[] = [];
  const worker: WorkerDeps = { ...world.deps, transport: createCapture(world.deps.hot) };
  const ok: WebhookWorld["ok"] = async (method, path, body) => {
    const reply = await world.api(method, path, { token, ...(body === undefined ? {} : { body }) });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`);
    return reply.body;
  };
  const rowsOf = async (path: string) => {
    const { data } = await ok("GET", `${path}?limit=100`);
    return (data as (Record<string, unknown> & { id: string })[]).reverse();
  };
  return {
    ...world,
    token,
    worker,
    ok,
    async sink(script) {
      const sink = await startHttpSink(script);
      sinks.push(sink);
      return sink;
    },
    async endpoint(to, events) {
      const endpoint = typeof to === "string" ? to : `http://127.0.0.1:${to.port}/hooks`;
      const created = await ok("POST", "/api/webhooks", { endpoint, events });
      return { id: String(created.id), secret: String(created.signing_secret) };
    },
    sendByApi: async (mail = {}) => String((await ok("POST", "/api/emails", { ...MAIL, ...mail })).id),
    round: () => tick(worker, { budgetMs: 20_000 }),
    async sendDue() {
      await deliverDue(worker);
      await sendDueEvents(worker);
    },
    eventsOf: async (webhookId) => {
      const events = await rowsOf(`/api/webhooks/${webhookId}/events`);
      return Promise.all(
        events.map(async (event) => ({
          ...event,
          attempts_made: await rowsOf(`/api/webhooks/${webhookId}/events/${event.id}/attempts`),
        })),
      );
    },
    close: async () => {
      for (const sink of sinks) await sink.close();
      await world.close();
    },
  };
}
