import { Ban, Hourglass, type LucideIcon, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { warnOfEvents } from "#server/shared/webhook-event-words";
import type { EndpointView } from "#server/trpc/webhooks/views";
import { Fact, Facts } from "../../_ui/page/facts";
import { BreakableUrl } from "../../_ui/text/address";
import { TONES } from "../../_ui/text/badge";
import { CopyButton } from "../../_ui/text/copy-button";
import { When } from "../../_ui/text/when";
import { formatPending, ResponseBadge } from "../badges";
import { describeEvent, isSentEvent } from "../events";

/** The URL, the events and the state of an endpoint. */
export function EndpointFacts({ endpoint }: { endpoint: EndpointView }) {
  const { endpoint: url, events, lastResponse, inProgress, previousUntil, created_at } = endpoint;
  return (
    <Facts>
      <Fact name="URL" width="half">
        <span className="flex min-w-0 items-center gap-1">
          <code className="min-w-0 font-mono text-xs">
            <BreakableUrl>{url}</BreakableUrl>
          </code>
          <CopyButton text={url} label="Copy the URL" />
        </span>
      </Fact>
      <Fact name="Last response" width="half">
        {lastResponse ? (
          <span className="flex flex-wrap items-center gap-2">
            <ResponseBadge of={lastResponse} />
            <When at={lastResponse.sent_at} className="text-soft text-xs" />
          </span>
        ) : (
          "None yet"
        )}
      </Fact>
      <Fact name="Pending">
        {formatPending(endpoint)}
        {inProgress > 0 ? <span className="ml-1.5 text-soft">{inProgress} in progress</span> : null}
      </Fact>
      <Fact name="Signing secret">
        {previousUntil ? (
          <span>
            Two active; the old one expires <When isDue at={previousUntil} />
          </span>
        ) : (
          "One active"
        )}
      </Fact>
      <Fact name="Added">
        <When at={created_at} />
      </Fact>
      <Fact name="Events" width="full">
        <ul aria-label="Events" className="flex flex-wrap gap-1.5">
          {events.map((name) => (
            <li
              key={name}
              title={isSentEvent(name) ? describeEvent(name) : "Backstamp never sends this event."}
              className={`rounded-md border border-line px-2 py-0.5 font-mono text-xs leading-5 ${isSentEvent(name) ? "" : "text-soft line-through"}`}
            >
              {name}
            </li>
          ))}
        </ul>
      </Fact>
    </Facts>
  );
}

/** Why event deliveries to an endpoint are stopped or slowed down. Nothing for a healthy endpoint. */
export function EndpointNote({ endpoint }: { endpoint: EndpointView }) {
  const { status, disabled_reason, failing_since, disablesAt, disablesAfterFailures, failures, pausedUntil } =
    endpoint;
  if (status === "disabled")
    return (
      <Banner tone={disabled_reason ? "bad" : "mute"} Icon={Ban}>
        {disabled_reason === "gone"
          ? "The endpoint responded 410 Gone, so the webhook was disabled. "
          : disabled_reason === "failing"
            ? "Every attempt failed for days, so the webhook was disabled. "
            : "This webhook is disabled. "}
        No events are sent to it, and new events are not stored for it. Its pending events failed. Enable the
        webhook, then replay the events that failed.
      </Banner>
    );
  if (pausedUntil)
    return (
      <Banner tone="warn" Icon={Hourglass}>
        The endpoint, or a server in front of it, requested a delay. Attempts continue{" "}
        <When isDue isLong at={pausedUntil} />.
      </Banner>
    );
  if (failing_since)
    return (
      <Banner tone="warn" Icon={TriangleAlert}>
        Attempts are failing. The first failure was <When isLong at={failing_since} />. Failed attempts since
        then: {failures.toLocaleString("en")}. Until one succeeds, they are made one at a time.
        {disablesAt ? (
          <>
            {" "}
            The webhook is disabled if it still fails <When isDue isLong at={disablesAt} />
            {failures < disablesAfterFailures ? (
              <> and has failed at least {disablesAfterFailures} times</>
            ) : null}
            .
          </>
        ) : null}
      </Banner>
    );
  return null;
}

/** What is wrong with the events to which an endpoint subscribes. Nothing if all of them occur. */
export const EventWarnings = ({ endpoint: { events } }: { endpoint: EndpointView }) =>
  warnOfEvents(events).map((warning) => (
    <Banner key={warning} tone="warn" Icon={TriangleAlert}>
      {warning}
    </Banner>
  ));

const Banner = ({
  tone,
  Icon,
  children,
}: {
  tone: keyof typeof TONES;
  Icon: LucideIcon;
  children: ReactNode;
}) => (
  <p role="status" className={`flex gap-3 rounded-xl px-5 py-3.5 leading-6 ${TONES[tone]}`}>
    <Icon className="mt-1 size-4 shrink-0" aria-hidden="true" />
    <span className="min-w-0 max-w-prose">{children}</span>
  </p>
);
