import type { EndpointView, WebhookCallView, WebhookDeliveryRow } from "#server/trpc/webhook-views";
import { Badge } from "../_ui/badge";
import type { Tone } from "../_ui/statuses";

/** Whether an endpoint is told of anything, in a word. */
export function EndpointBadge({
  of,
}: {
  of: Pick<EndpointView, "status" | "disabledReason" | "failingSince" | "lane">;
}) {
  if (of.disabledReason === "gone")
    return (
      <Badge tone="bad" title="It answered 410 Gone, so we call it no more.">
        Disabled: gone
      </Badge>
    );
  if (of.disabledReason === "failing")
    return (
      <Badge tone="bad" title="Every call failed for days, so we call it no more.">
        Disabled: failing
      </Badge>
    );
  if (of.status === "disabled")
    return (
      <Badge tone="mute" title="Somebody paused it. It is told of nothing.">
        Paused
      </Badge>
    );
  if (of.failingSince)
    return (
      <Badge tone="warn" title="No call has succeeded since. Each is tried again.">
        Failing
      </Badge>
    );
  if (of.lane === "paused")
    return (
      <Badge tone="warn" title="It asked to be left alone for a while.">
        Asked to wait
      </Badge>
    );
  return <Badge tone="good">Enabled</Badge>;
}

type DeliveryStatus = WebhookDeliveryRow["status"];

/** What became of an event, once: what people read, its colour, what it means. */
export const DELIVERY_WORDS: Record<DeliveryStatus, { label: string; tone: Tone; means: string }> = {
  pending: { label: "Waiting", tone: "info", means: "It is called as soon as its time has come." },
  attempting: { label: "Calling", tone: "info", means: "A call is under way." },
  success: { label: "Taken", tone: "good", means: "The endpoint answered with a 2xx." },
  failed: { label: "Given up", tone: "bad", means: "No call succeeded, and none is planned." },
};

export const DELIVERY_STATUSES = Object.keys(DELIVERY_WORDS) as DeliveryStatus[];

export function DeliveryBadge({ status }: { status: DeliveryStatus }) {
  const { label, tone, means } = DELIVERY_WORDS[status];
  return (
    <Badge tone={tone} title={means}>
      {label}
    </Badge>
  );
}

/** Why no answer came, by the class of the fault. */
const FAULTS: Record<string, string> = {
  timeout: "no answer in time",
  refused: "nobody listens there",
  blocked: "an address that is not on the public Internet",
  tls: "its certificate or TLS will not do",
  dns: "its name does not resolve",
  network: "the connection broke",
};

/** What came of one call, in words. */
export function sayAnswer({ statusCode, fault }: Pick<WebhookCallView, "statusCode" | "fault">): string {
  if (statusCode !== null) return String(statusCode);
  return fault === null ? "no answer" : (FAULTS[fault] ?? fault);
}

/** The colour of an answer: any 2xx is a yes. */
export const toneOfAnswer = ({ statusCode }: Pick<WebhookCallView, "statusCode">): Tone =>
  statusCode !== null && statusCode >= 200 && statusCode < 300 ? "good" : "bad";
