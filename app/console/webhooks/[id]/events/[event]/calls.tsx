import type { WebhookCallView, WebhookDeliveryView } from "#server/trpc/webhook-views";
import { Badge } from "../../../../_ui/badge";
import { CodeBlock } from "../../../../_ui/code-block";
import { Section } from "../../../../_ui/section";
import { When } from "../../../../_ui/when";
import { sayAnswer, toneOfAnswer } from "../../../words";

/** Every call that was made for an event, the latest first, with what was sent and answered. */
export function Calls({ delivery: { calls, hasMoreCalls } }: { delivery: WebhookDeliveryView }) {
  return (
    <Section title="Calls" note={hasMoreCalls ? "The latest hundred." : undefined}>
      {calls.length === 0 ? (
        <p className="px-5 pb-5 text-soft">None yet.</p>
      ) : (
        <ol aria-label="Calls" className="divide-y divide-line border-line border-t">
          {calls.map((call, place) => (
            <li key={call.id}>
              <Call call={call} isOpen={place === 0} />
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

function Call({ call, isOpen }: { call: WebhookCallView; isOpen: boolean }) {
  const { number, durationMs, sentAt, nextAttemptAt, answer, url, headers } = call;
  return (
    <details open={isOpen}>
      <summary className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2.5 hover:bg-sunk focus-visible:-outline-offset-2">
        <span className="text-soft tabular-nums">{number}.</span>
        <Badge tone={toneOfAnswer(call)}>{sayAnswer(call)}</Badge>
        <span className="text-soft text-xs tabular-nums">{durationMs} ms</span>
        <When at={sentAt} className="ml-auto text-soft text-xs" />
      </summary>
      <div className="grid min-w-0 gap-4 px-5 pt-1 pb-5 lg:grid-cols-2">
        <CodeBlock text={requestText(url, headers)} label="Request" language="HTTP" />
        <div className="flex min-w-0 flex-col gap-3">
          {answer === null ? (
            <p className="text-soft leading-6">No answer came: {sayAnswer(call)}.</p>
          ) : answer === "" ? (
            <p className="text-soft leading-6">The answer had no body.</p>
          ) : (
            <CodeBlock text={answer} label="Answer" />
          )}
          {nextAttemptAt ? (
            <p className="text-soft text-xs">
              After this the next call was planned for <When at={nextAttemptAt} />.
            </p>
          ) : null}
        </div>
      </div>
    </details>
  );
}

const requestText = (url: string, headers: Record<string, string>): string =>
  [
    `POST ${url}`,
    // The older names of the same three last.
    ...Object.entries(headers)
      .sort(([a], [b]) => Number(a.startsWith("svix-")) - Number(b.startsWith("svix-")) || a.localeCompare(b))
      .map(([name, value]) => `${name}: ${value}`),
  ].join("\n");
