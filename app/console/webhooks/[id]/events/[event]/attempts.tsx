import type { WebhookAttemptWire } from "#server/shared/wire/webhook";
import { Section } from "../../../../_ui/page/section";
import { CodeBlock } from "../../../../_ui/text/code-block";
import { When } from "../../../../_ui/text/when";
import { formatFault, ResponseBadge } from "../../../badges";

/** The attempts of an event delivery, latest first, with request and response. */
export const Attempts = ({ rows, hasMore }: { rows: WebhookAttemptWire[]; hasMore: boolean }) => (
  <Section title="Attempts" note={hasMore ? "The latest 100." : undefined}>
    {rows.length === 0 ? (
      <p className="px-5 pb-5 text-soft">None yet.</p>
    ) : (
      <ol aria-label="Attempts" className="divide-y divide-line border-line border-t">
        {rows.map((attempt, index) => (
          <li key={attempt.id}>
            <Attempt attempt={attempt} isOpen={index === 0} />
          </li>
        ))}
      </ol>
    )}
  </Section>
);

function Attempt({ attempt, isOpen }: { attempt: WebhookAttemptWire; isOpen: boolean }) {
  const { number, duration_ms, sent_at, next_attempt_at, response, fault, request } = attempt;
  return (
    <details open={isOpen}>
      <summary className="flex min-h-12 flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2.5 hover:bg-sunk focus-visible:-outline-offset-2">
        <span className="text-soft tabular-nums">{number}.</span>
        <ResponseBadge of={attempt} />
        <span className="text-soft text-xs tabular-nums">{duration_ms} ms</span>
        <When at={sent_at} className="ml-auto text-soft text-xs" />
      </summary>
      <div className="grid min-w-0 gap-4 px-5 pt-1 pb-5 lg:grid-cols-2">
        <CodeBlock text={requestText(request)} label="Request" language="HTTP" />
        <div className="flex min-w-0 flex-col gap-3">
          {response === null ? (
            <p className="text-soft leading-6">No response: {formatFault(fault)}.</p>
          ) : response === "" ? (
            <p className="text-soft leading-6">The response has no body.</p>
          ) : (
            <CodeBlock text={response} label="Response" />
          )}
          {next_attempt_at ? (
            <p className="text-soft text-xs">
              The next attempt was scheduled for <When at={next_attempt_at} />.
            </p>
          ) : null}
        </div>
      </div>
    </details>
  );
}

const requestText = ({ url, headers }: WebhookAttemptWire["request"]): string =>
  [
    `POST ${url}`,
    // The `svix-` names of the same three headers last.
    ...Object.entries(headers)
      .sort(([a], [b]) => Number(a.startsWith("svix-")) - Number(b.startsWith("svix-")) || a.localeCompare(b))
      .map(([name, value]) => `${name}: ${value}`),
  ].join("\n");
