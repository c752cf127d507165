import type { ReactNode } from "react";
import type { EndpointView } from "#server/trpc/webhook-views";
import { Badge } from "../../_ui/badge";
import { CopyButton } from "../../_ui/copy-button";
import { cardStyle } from "../../_ui/styles";
import { When } from "../../_ui/when";
import { sayWaiting } from "../columns";
import { isSentEvent, sayEvent } from "../events";
import { ShownUrl } from "../shown-url";
import { sayAnswer, toneOfAnswer } from "../words";

/** Where an endpoint is, what it hears of and how it fares. */
export function EndpointFacts({ endpoint }: { endpoint: EndpointView }) {
  const { url, events, lastAnswer, underWay, previousUntil, createdAt } = endpoint;
  return (
    <dl className={`${cardStyle} grid grid-cols-2 gap-x-6 gap-y-5 p-5 md:grid-cols-4`}>
      <Fact name="Address" isWide>
        <span className="flex min-w-0 items-center gap-1">
          <code className="min-w-0 font-mono text-xs">
            <ShownUrl>{url}</ShownUrl>
          </code>
          <CopyButton text={url} label="Copy: address" />
        </span>
      </Fact>
      <Fact name="Last answer" isWide>
        {lastAnswer ? (
          <span className="flex flex-wrap items-center gap-2">
            <Badge tone={toneOfAnswer(lastAnswer)}>{sayAnswer(lastAnswer)}</Badge>
            <When at={lastAnswer.sentAt} className="text-soft text-xs" />
          </span>
        ) : (
          "None yet"
        )}
      </Fact>
      <Fact name="Waiting">
        {sayWaiting(endpoint)}
        {underWay > 0 ? <span className="ml-1.5 text-soft">{underWay} under way</span> : null}
      </Fact>
      <Fact name="Signing secret">
        {previousUntil ? (
          <span>
            Two sign; the old one ends <When at={previousUntil} />
          </span>
        ) : (
          "One signs every call"
        )}
      </Fact>
      <Fact name="Added">
        <When at={createdAt} />
      </Fact>
      <Fact name="Is told of" isWhole>
        <ul aria-label="Events" className="flex flex-wrap gap-1.5">
          {events.map((name) => (
            <li
              key={name}
              title={isSentEvent(name) ? sayEvent(name) : "Posthorn never sends this one."}
              className={`rounded-md border border-line px-2 py-0.5 font-mono text-xs leading-5 ${isSentEvent(name) ? "" : "text-soft line-through"}`}
            >
              {name}
            </li>
          ))}
        </ul>
      </Fact>
    </dl>
  );
}

type FactProps = { name: string; isWide?: boolean; isWhole?: boolean; children: ReactNode };

function Fact({ name, isWide, isWhole, children }: FactProps) {
  return (
    <div className={`min-w-0 ${isWhole ? "col-span-full" : isWide ? "col-span-2" : ""}`}>
      <dt className="mb-1 text-soft text-xs">{name}</dt>
      <dd className="flex min-h-8 min-w-0 items-center">{children}</dd>
    </div>
  );
}
