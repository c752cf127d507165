import type { WebhookAttemptWire, WebhookEventWire } from "#server/shared/wire/webhook";
import type { EndpointView } from "#server/trpc/webhooks/views";
import { Badge } from "../_ui/text/badge";
import type { Tone } from "../_ui/text/statuses";

/** The state of an endpoint. */
export function EndpointBadge({ of }: { of: EndpointView }) {
  if (of.disabled_reason === "gone")
    return (
      <Badge tone="bad" title="The endpoint responded 410 Gone. No events are sent to it.">
        Disabled: gone
      </Badge>
    );
  if (of.disabled_reason === "failing")
    return (
      <Badge tone="bad" title="Every attempt failed for days. No events are sent to it.">
        Disabled: failing
      </Badge>
    );
  if (of.status === "disabled")
    return (
      <Badge tone="mute" title="A member or a program paused it. No events are sent to it.">
        Paused
      </Badge>
    );
  if (of.failing_since)
    return (
      <Badge tone="warn" title="Recent attempts failed. They are retried.">
        Failing
      </Badge>
    );
  if (of.pausedUntil)
    return (
      <Badge tone="warn" title="The endpoint requested a delay.">
        Throttled
      </Badge>
    );
  return <Badge tone="good">Enabled</Badge>;
}

type DeliveryStatus = WebhookEventWire["status"];

/** The status of an event delivery: label, color and description. */
export const DELIVERY_LABELS: Record<DeliveryStatus, { label: string; tone: Tone; description: string }> = {
  pending: { label: "Pending", tone: "info", description: "Waits for its next attempt." },
  attempting: { label: "In progress", tone: "info", description: "An attempt is in progress." },
  success: { label: "Succeeded", tone: "good", description: "The endpoint responded with a 2xx status." },
  failed: {
    label: "Failed",
    tone: "bad",
    description: "No attempt succeeded, and no further attempt is scheduled.",
  },
};

export const DELIVERY_STATUSES = Object.keys(DELIVERY_LABELS) as DeliveryStatus[];

export function DeliveryBadge({ status }: { status: DeliveryStatus }) {
  const { label, tone, description } = DELIVERY_LABELS[status];
  return (
    <Badge tone={tone} title={description}>
      {label}
    </Badge>
  );
}

/** Why there was no response, by error class. */
const FAULT_LABELS: Record<string, string> = {
  timeout: "timeout",
  refused: "connection refused",
  blocked: "not a public IP address, and not allowed by BACKSTAMP_EGRESS_ALLOW",
  tls: "TLS or certificate error",
  dns: "DNS lookup failed",
  network: "connection lost",
};

export const formatFault = (fault: string | null): string =>
  fault === null ? "no response" : (FAULT_LABELS[fault] ?? fault);

/** The status code of an attempt, or why there was no response. Good is any 2xx status. */
export function ResponseBadge({ of }: { of: Pick<WebhookAttemptWire, "http_status_code" | "fault"> }) {
  const status = of.http_status_code;
  return (
    <Badge tone={status !== null && status >= 200 && status < 300 ? "good" : "bad"}>
      {status ?? formatFault(of.fault)}
    </Badge>
  );
}

/** The number of pending events; "n+" if there are more than were counted. */
export const formatPending = ({
  waiting,
  isWaitingAtLeast,
}: Pick<EndpointView, "waiting" | "isWaitingAtLeast">): string =>
  isWaitingAtLeast ? `${waiting}+` : String(waiting);
