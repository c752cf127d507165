import type { WebhookCallView, WebhookDeliveryView } from "#server/trpc/webhooks/views";
import { Section } from "../../../../_ui/page/section";
import { Badge } from "../../../../_ui/text/badge";
import { CodeBlock } from "../../../../_ui/text/code-block";
import { When } from "../../../../_ui/text/when";
import { formatResponse, responseTone } from "../../../badges";

/** The attempts of an event delivery, latest first, with request and response. */
export function Attempts({ delivery: { calls, hasMoreCalls } }: { delivery: WebhookDeliveryView }) {
  return (
    <Section title="Attempts" note={hasMoreCalls ? "The latest 100." : undefined}>
      {calls.length === 0 ? (
        <p className="px-5 pb-5 text-soft">None yet.</p>
      ) : (
        <ol aria-label="Attempts" className="divide-y divide-line border-line border-t">
          {calls.map((attempt, index) => (
            <li key={attempt.id}>
              <Attempt attempt={attempt} isOpen={index === 0} />
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

function Attempt({ attempt, isOpen }: { attempt: WebhookCallView; isOpen: boolean }) {
  const { number, durationMs, sentAt, nextAttemptAt, answer, url, headers } = attempt;
  return (
    <details open={isOpen}>
      <summary className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2.5 hover:bg-sunk focus-visible:-outline-offset-2">
        <span className="text-soft tabular-nums">{number}.</span>
        <Badge tone={responseTone(attempt)}>{formatResponse(attempt)}</Badge>
        <span className="text-soft text-xs tabular-nums">{durationMs} ms</span>
        <When at={sentAt} className="ml-auto text-soft text-xs" />
      </summary>
      <div className="grid min-w-0 gap-4 px-5 pt-1 pb-5 lg:grid-cols-2">
        <CodeBlock text={requestText(url, headers)} label="Request" language="HTTP" />
        <div className="flex min-w-0 flex-col gap-3">
          {answer === null ? (
            <p className="text-soft leading-6">No response: {formatResponse(attempt)}.</p>
          ) : answer === "" ? (
            <p className="text-soft leading-6">The response has no body.</p>
          ) : (
            <CodeBlock text={answer} label="Response" />
          )}
          {nextAttemptAt ? (
            <p className="text-soft text-xs">
              The next attempt was scheduled for <When at={nextAttemptAt} />.
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
    // The `svix-` names of the same three headers last.
    ...Object.entries(headers)
      .sort(([a], [b]) => Number(a.startsWith("svix-")) - Number(b.startsWith("svix-")) || a.localeCompare(b))
      .map(([name, value]) => `${name}: ${value}`),
  ].join("\n");
