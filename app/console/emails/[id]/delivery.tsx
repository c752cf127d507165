import { EVENTS, formatReply } from "#server/shared/email-words";
import type { EmailView, EventView, RecipientView } from "#server/trpc/emails/views";
import { formatCount, formatNumber } from "../../_ui/format-number";
import { Card } from "../../_ui/page/card";
import { Address, AddressText, MessageText } from "../../_ui/text/address";
import { StatusBadge } from "../../_ui/text/badge";
import type { Tone } from "../../_ui/text/statuses";
import { formatDuration, Moment, When } from "../../_ui/text/when";
import { countAttempts, numberAttempts } from "./attempts";

const KINDS = { to: "To", cc: "Cc", bcc: "Bcc" } as const;

type Delays = EmailView["delays"];

type RecipientsProps = { recipients: RecipientView[]; events: EventView[]; delays: Delays };

/** The status of each recipient, with the reason, the number of attempts and the next one. */
export function Recipients({ recipients, events, delays }: RecipientsProps) {
  const attempts = countAttempts(events);
  return (
    <Card title={recipients.length === 1 ? "Recipient" : `${formatNumber(recipients.length)} recipients`}>
      <ul className="divide-y divide-line">
        {recipients.map((recipient) => (
          <li key={recipient.address} className="flex flex-col gap-1.5 px-4 py-3">
            <div className="flex flex-wrap items-start justify-between gap-x-3 gap-y-1.5">
              <span className="min-w-0 break-words font-medium">
                <span className="mr-1.5 font-normal text-soft text-xs">{KINDS[recipient.kind]}</span>
                <Address>{recipient.address}</Address>
              </span>
              <StatusBadge status={recipient.status} />
            </div>
            <Text of={recipient.reason} />
            <Meaning of={recipient} />
            <Text of={recipient.advice} className="text-ink" />
            <NextAttempt recipient={recipient} delays={delays} />
            <Attempts recipient={recipient} count={attempts.get(recipient.address) ?? 0} />
            {recipient.provider_id ? (
              <p className="text-soft text-xs">
                Provider message id:{" "}
                <code className="font-mono">
                  <Address>{recipient.provider_id}</Address>
                </code>
              </p>
            ) : null}
          </li>
        ))}
      </ul>
    </Card>
  );
}

type TextProps = { of: string | null | undefined; className?: string };

/** A paragraph with each address on one line. */
const Text = ({ of, className = "text-soft" }: TextProps) =>
  of ? (
    <p className={`break-words ${className}`}>
      <AddressText>{of}</AddressText>
    </p>
  ) : null;

type MeaningProps = { of: { meaning: string | null; reason?: string | null | undefined } };

/** What the code of a reply means, unless the reason beside it says the same. */
const Meaning = ({ of: { meaning, reason } }: MeaningProps) => {
  const cause = meaning?.split(". ", 1)[0]?.toLowerCase();
  return cause === undefined || reason?.toLowerCase().includes(cause) ? null : (
    <p className="break-words text-soft text-xs">{meaning}</p>
  );
};

type RuleProps = { rule: string | null | undefined; text: string | null; reason: string | null | undefined };

/** Why the next attempt is later, unless the reason of the last one says the same. */
const RuleText = ({ rule, text, reason }: RuleProps) =>
  text === null || (rule === "greylisted" && reason?.includes("greylisting")) ? null : (
    <MessageText>{` ${text}`}</MessageText>
  );

const Attempts = ({ recipient: { host, relay }, count }: { recipient: RecipientView; count: number }) =>
  count === 0 ? null : (
    <p className="text-soft text-xs">
      {formatCount(count, "attempt")}
      {host ? (
        <>
          {" at "}
          <span className="wrap-anywhere font-mono">{host}</span>
        </>
      ) : null}
      {relay ? <>, through relay {relay}</> : null}
    </p>
  );

const CAPPED = new Set(["daily_cap", "warm_up", "team_daily_cap"]);

function NextAttempt({ recipient, delays }: { recipient: RecipientView; delays: Delays }) {
  const { next_attempt_at: nextAttemptAt, rule, rule_text: ruleText } = recipient;
  if (!rule) return null;
  return (
    <>
      <p className="text-soft">
        {nextAttemptAt ? (
          <>
            Next attempt <When isDue at={nextAttemptAt} className="text-ink" />.
          </>
        ) : null}
        <RuleText rule={rule} text={ruleText} reason={recipient.reason} />
      </p>
      {CAPPED.has(rule) && delays.cap ? (
        <p className="text-soft">
          Sent today by {delays.cap.of ?? "the team"}: {formatNumber(delays.cap.handedOver)} of{" "}
          {formatNumber(delays.cap.allowed)} recipients.
        </p>
      ) : null}
      {rule === "relay_paused"
        ? delays.relays.map(({ name, nextAttemptAt, fault, reason }) => (
            <p key={name} className="break-words text-soft">
              Relay <span className="text-ink">{name}</span> is paused
              {reason === null ? ". " : ` by the operator: ${reason}`}
              {nextAttemptAt ? (
                <>
                  Next attempt <When isDue at={nextAttemptAt} />
                  {fault ? `: ${fault}` : "."}
                </>
              ) : null}
            </p>
          ))
        : null}
    </>
  );
}

const DOTS: Record<Tone, string> = {
  good: "bg-good",
  bad: "bg-bad",
  warn: "bg-warn",
  info: "bg-info",
  mute: "bg-mute",
};

/** The events of an email with their reasons, oldest first. `isShared`: the email has several recipients. */
export function Timeline({ events, isShared }: { events: EventView[]; isShared: boolean }) {
  const attempts = numberAttempts(events);
  return (
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
            <Entry event={event} attempt={attempts.get(event.id)} isShared={isShared} />
          </li>
        ))}
      </ol>
    </Card>
  );
}

type EntryProps = { event: EventView; attempt: number | undefined; isShared: boolean };

function Entry({ event, attempt, isShared }: EntryProps) {
  const {
    host,
    reason,
    visit,
    next_attempt_at: nextAttemptAt,
    policy,
    dialogue,
    reply_rule: replyRule,
  } = event.data;
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
      <Text of={isShared ? event.recipient : null} />
      <Text of={reason} />
      <Text
        of={reply && !isInReason(reply) ? reply : null}
        className="rounded-md bg-sunk px-2 py-1 font-mono text-xs"
      />
      <Meaning of={{ meaning: event.meaning, reason }} />
      {replyRule ? (
        <p className="wrap-anywhere text-soft text-xs">
          Rule <code>{replyRule}</code>
        </p>
      ) : null}
      {visit ? <Visit visit={visit} /> : null}
      {host && !isInReason(host) ? <p className="wrap-anywhere font-mono text-soft text-xs">{host}</p> : null}
      {nextAttemptAt ? (
        <p className="text-soft">
          Next attempt{" "}
          <Moment at={nextAttemptAt}>
            {formatDuration(Date.parse(nextAttemptAt) - Date.parse(event.created_at))} later
          </Moment>
          .<RuleText rule={event.data.rule} text={event.ruleText} reason={reason} />
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
