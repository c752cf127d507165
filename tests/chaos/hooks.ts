import { type HttpSink, type SinkReply, startHttpSink } from "../support/servers/http-sink";
import type { Ask } from "./audit";
import type { HookRecords } from "./records";

/** A webhook endpoint that records what it receives, and fails on request. */
export type Hooks = {
  port: number;
  /** From now on every third call gets one of these failures in turn. No failure is permanent. */
  destinationFault(replies: readonly SinkReply[]): void;
  /** How many calls got a failure. */
  serverFaults(): number;
  collect(hot: Ask, webhookId: string): Promise<HookRecords>;
  close(): Promise<void>;
};

/** Event types that the rig's endpoint subscribes to. */
export const SUBSCRIBED_EVENTS = ["email.queued", "email.unknown", "email.bounced", "email.failed"] as const;

type CallResult = { bodies: Set<string>; wasTaken: boolean };

export async function openHooks(): Promise<Hooks> {
  const received = new Map<string, CallResult>();
  let replies: readonly SinkReply[] = [];
  let count = 0;
  let serverFaults = 0;
  const sink: HttpSink = await startHttpSink(({ headers, body }) => {
    const id = String(headers["svix-id"] ?? headers["webhook-id"]);
    const known = received.get(id) ?? { bodies: new Set<string>(), wasTaken: false };
    received.set(id, known);
    known.bodies.add(body);
    // The record is kept here; a list of complete requests would only grow.
    sink.received.length = 0;
    const odd =
      replies.length > 0 && count++ % 3 === 0 ? replies[serverFaults++ % replies.length] : undefined;
    if (odd !== undefined) return odd;
    known.wasTaken = true;
    return 200;
  });
  return {
    port: sink.port,
    destinationFault(next) {
      replies = next;
    },
    serverFaults: () => serverFaults,
    async collect(hot, webhookId) {
      const [open] = await hot<{ withoutOutboxRow: number }[]>`
        select count(*)::int as "withoutOutboxRow" from email_events e
        where e.type in ${hot([...SUBSCRIBED_EVENTS])} and (
          select count(*) from webhook_deliveries d where d.webhook_id = ${webhookId} and d.event_id = e.id) <> 1`;
      const rows = await hot<{ id: string; status: string; type: string }[]>`
        select id, status, type from webhook_deliveries where webhook_id = ${webhookId}`;
      return {
        withoutOutboxRow: open?.withoutOutboxRow ?? 0,
        undelivered: rows
          .filter(({ status }) => status !== "success")
          .map(({ id, status, type }) => `${type} ${id} is ${status}`),
        unreceived: rows
          .filter(({ id, status }) => status === "success" && !received.get(id)?.wasTaken)
          .map(({ id, type }) => `${type} ${id} was never delivered`),
        changed: [...received].filter(([, { bodies }]) => bodies.size > 1).map(([id]) => id),
        deliveredWebhooks: rows.filter(({ status }) => status === "success").length,
      };
    },
    close: () => sink.close(),
  };
}
