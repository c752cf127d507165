import type { EndpointView } from "#server/trpc/webhooks/views";
import { Fact, Facts } from "../../_ui/page/facts";
import { BreakableUrl } from "../../_ui/text/address";
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
