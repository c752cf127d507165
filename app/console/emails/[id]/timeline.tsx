import { EVENTS, formatReply } from "#server/shared/email-words";
import type { EventView } from "#server/trpc/emails/views";
import { Card } from "../../_ui/page/card";
import type { Tone } from "../../_ui/text/statuses";
import { formatDuration, Moment, When } from "../../_ui/text/when";

const DOTS: Record<Tone, string> = {
  good: "bg-good",
  bad: "bg-bad",
  warn: "bg-warn",
  info: "bg-info",
  mute: "bg-mute",
};

/** The events of an email with their reasons, oldest first. `isShared`: the email has several recipients. */
export const Timeline = ({ events, isShared }: { events: EventView[]; isShared: boolean }) => (
  <Card title="Timeline">
    <ol className="flex flex-col px-4 py-4">
      {events.map((event) => (
        <li key={event.id} className="group relative flex gap-3 pb-5 last:pb-0">
          <span
            aria-hidden="true"
            className="absolute top-4 bottom-0 left-[0.21875rem] w-px bg-line group-last:hidden"
          />
          <span
            aria-hidden="true"
            className={`relative mt-1.5 size-2 shrink-0 rounded-full ${DOTS[EVENTS[event.type].tone]}`}
          />
          <Entry event={event} isShared={isShared} />
        </li>
      ))}
    </ol>
  </Card>
);

function Entry({ event, isShared }: { event: EventView; isShared: boolean }) {
  const { attempt, host, reason, visit, next_attempt_at: nextAttemptAt, policy, dialogue } = event.data;
  const reply = formatReply(event.data.reply);
  const isInReason = (fact: string) => reason?.includes(fact) ?? false;
  return (
    <div className="flex min-w-0 grow flex-col gap-1">
      <div className="flex items-baseline justify-between gap-3">
        <h3 className="font-medium">
          {EVENTS[event.type].label}
          {attempt ? <span className="ml-1.5 font-normal text-soft text-xs">attempt {attempt}</span> : null}
        </h3>
        <When at={event.created_at} className="shrink-0 text-soft text-xs" />
      </div>
      {isShared && event.recipient ? <p className="wrap-anywhere text-soft">{event.recipient}</p> : null}
      {reason ? <p className="break-words text-soft">{reason}</p> : null}
      {reply && !isInReason(reply) ? (
        <p className="break-words rounded-md bg-sunk px-2 py-1 font-mono text-xs">{reply}</p>
      ) : null}
      {event.meaning ? <p className="break-words text-soft text-xs">{event.meaning}</p> : null}
      {visit ? <Visit visit={visit} /> : null}
      {host && !isInReason(host) ? <p className="wrap-anywhere font-mono text-soft text-xs">{host}</p> : null}
      {nextAttemptAt ? (
        <p className="text-soft">
          Next attempt{" "}
          <Moment at={nextAttemptAt}>
            {formatDuration(Date.parse(nextAttemptAt) - Date.parse(event.created_at))} later
          </Moment>
          .{event.rule_text ? ` ${event.rule_text}` : ""}
        </p>
      ) : null}
      {policy === "hold" ? (
        <p className="text-soft">On hold: this team resolves unknown outcomes manually.</p>
      ) : null}
      {dialogue ? (
        <details className="mt-0.5">
          <summary className="w-fit rounded text-accent text-xs">SMTP dialogue</summary>
          <pre className="mt-2 whitespace-pre-wrap break-words rounded-md bg-sunk p-2.5 font-mono text-[0.6875rem] leading-4">
            {dialogue}
          </pre>
        </details>
      ) : null}
    </div>
  );
}

const VISITORS = {
  reader: "Requested by a person, as far as the request shows.",
  proxy: "Requested by a proxy that hides the recipient.",
  prefetch: "Prefetched by a program. The recipient may not have read the email.",
  scanner: "Requested by a security scanner. The recipient may not have read the email.",
} as const;

const Visit = ({ visit: { by, name, link, agent } }: { visit: NonNullable<EventView["data"]["visit"]> }) => (
  <div className="flex flex-col gap-1 text-soft">
    {link ? <p className="wrap-anywhere font-mono text-xs">{link}</p> : null}
    <p>
      {VISITORS[by]}
      {name ? ` (${name})` : ""}
    </p>
    {agent ? <p className="break-words text-xs">{agent}</p> : null}
  </div>
);
