import type { WebhookAttemptWire, WebhookEventWire } from "#server/shared/wire/webhook";
import type { EndpointView } from "#server/trpc/webhooks/views";
import { formatNumber } from "../_ui/format-number";
import { useDisabledReason } from "../_ui/page/permission";
import { MessageText } from "../_ui/text/address";
import { Badge, type Label, LabelBadge } from "../_ui/text/badge";

/** Each state of an endpoint: its badge, and a sentence that explains it. */
const ENDPOINT_LABELS = {
  gone: {
    label: "Disabled: gone",
    tone: "bad",
    description: "The endpoint responded 410 Gone. No events are sent to it.",
  },
  failing: {
    label: "Disabled: failing",
    tone: "bad",
    description: "Every attempt failed for days. No events are sent to it.",
  },
  disabled: {
    label: "Disabled",
    tone: "mute",
    description: "A member or a program disabled it. No events are sent to it.",
  },
  retried: { label: "Failing", tone: "warn", description: "Recent attempts failed. They are retried." },
  throttled: { label: "Throttled", tone: "warn", description: "The endpoint requested a delay." },
  enabled: { label: "Enabled", tone: "good" },
} satisfies Record<string, Label>;

function stateOf({ disabled_reason, status, failing_since, pausedUntil }: EndpointView) {
  if (disabled_reason) return disabled_reason;
  if (status === "disabled") return "disabled";
  if (failing_since) return "retried";
  return pausedUntil ? "throttled" : "enabled";
}

/** The state of an endpoint. */
export const EndpointBadge = ({ of }: { of: EndpointView }) => (
  <LabelBadge {...ENDPOINT_LABELS[stateOf(of)]} />
);

/** Beside the type of a sample event, which has the name of a real one. */
export const TestBadge = () => (
  <Badge tone="mute" title="A sample event. It is about no real email.">
    Test
  </Badge>
);

type DeliveryStatus = WebhookEventWire["status"];

/** The status of an event delivery: label, color and description. */
export const DELIVERY_LABELS: Record<DeliveryStatus, Label> = {
  pending: { label: "Pending", tone: "info", description: "Waits for its next attempt." },
  attempting: { label: "In progress", tone: "info", description: "An attempt is in progress." },
  success: { label: "Succeeded", tone: "good", description: "The endpoint responded with a 2xx status." },
  failed: {
    label: "Failed",
    tone: "bad",
    description: "No attempt succeeded, and no further attempt is scheduled.",
  },
};

/** Why the user cannot send events to an endpoint; undefined if they can. */
export function useBlockedReason({ status }: EndpointView, what: string): string | undefined {
  const missing = useDisabledReason()("webhooks:write", what);
  return missing ?? (status === "enabled" ? undefined : "The webhook is disabled. Enable it first.");
}

/** Whether a delivery will change soon. */
export const isInProgress = (delivery: { status: DeliveryStatus } | undefined): boolean =>
  delivery?.status === "pending" || delivery?.status === "attempting";

export const DELIVERY_STATUSES = Object.keys(DELIVERY_LABELS) as DeliveryStatus[];

/** The status of an event delivery. One that is pending after failed attempts shows their number. */
export function DeliveryBadge({
  of: { status, attempts },
}: {
  of: { status: DeliveryStatus; attempts: number };
}) {
  const { label, tone, ...rest } = DELIVERY_LABELS[status];
  const isRetried = status === "pending" && attempts > 0;
  return (
    <LabelBadge
      label={isRetried ? `${label}, ${formatNumber(attempts)} failed` : label}
      tone={isRetried ? "warn" : tone}
      {...rest}
    />
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
      {status ?? <MessageText>{formatFault(of.fault)}</MessageText>}
    </Badge>
  );
}

/** Whether events of an endpoint are pending or in progress. */
export const hasPending = ({ waiting, inProgress }: Pick<EndpointView, "waiting" | "inProgress">): boolean =>
  waiting + inProgress > 0;

/** The number of pending events; "n+" if there are more than were counted. */
export const formatPending = ({
  waiting,
  isWaitingAtLeast,
}: Pick<EndpointView, "waiting" | "isWaitingAtLeast">): string =>
  `${formatNumber(waiting)}${isWaitingAtLeast ? "+" : ""}`;
