import type { EmailView, RecipientView } from "#server/trpc/emails/views";
import { Card } from "../../_ui/page/card";
import { StatusBadge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";

const KINDS = { to: "To", cc: "Cc", bcc: "Bcc" } as const;

type Delays = EmailView["delays"];

/** The status of each recipient, with the reason and the next attempt. */
export const Recipients = ({ recipients, delays }: { recipients: RecipientView[]; delays: Delays }) => (
  <Card title={recipients.length === 1 ? "Recipient" : `${recipients.length} recipients`}>
    <ul className="divide-y divide-line">
      {recipients.map((recipient) => (
        <li key={recipient.address} className="flex flex-col gap-1.5 px-4 py-3">
          <div className="flex items-start justify-between gap-3">
            <span className="min-w-0 wrap-anywhere font-medium">
              <span className="mr-1.5 font-normal text-soft text-xs">{KINDS[recipient.kind]}</span>
              {recipient.address}
            </span>
            <StatusBadge status={recipient.status} />
          </div>
          {recipient.reason ? <p className="break-words text-soft">{recipient.reason}</p> : null}
          {recipient.meaning ? <p className="break-words text-soft text-xs">{recipient.meaning}</p> : null}
          {recipient.advice ? <p className="break-words text-ink">{recipient.advice}</p> : null}
          <NextAttempt recipient={recipient} delays={delays} />
          {recipient.attempts > 0 ? (
            <p className="text-soft text-xs">
              {recipient.attempts === 1 ? "1 attempt" : `${recipient.attempts} attempts`}
              {recipient.host ? (
                <>
                  {" at "}
                  <span className="wrap-anywhere font-mono">{recipient.host}</span>
                </>
              ) : null}
              {recipient.relay ? <>, through relay {recipient.relay}</> : null}
            </p>
          ) : null}
          {recipient.provider_id ? (
            <p className="text-soft text-xs">
              Provider message id: <code className="wrap-anywhere font-mono">{recipient.provider_id}</code>
            </p>
          ) : null}
        </li>
      ))}
    </ul>
  </Card>
);

const CAPPED = new Set(["daily_cap", "warm_up", "team_daily_cap"]);

function NextAttempt({ recipient, delays }: { recipient: RecipientView; delays: Delays }) {
  const { next_attempt_at: nextAttemptAt, rule, rule_text: ruleText, status } = recipient;
  if (status === "scheduled" && nextAttemptAt)
    return (
      <p className="text-soft">
        Will be sent <When at={nextAttemptAt} className="text-ink" />.
      </p>
    );
  if (!rule) return null;
  return (
    <>
      <p className="text-soft">
        {nextAttemptAt ? (
          <>
            Next attempt <When at={nextAttemptAt} className="text-ink" />.{" "}
          </>
        ) : null}
        {ruleText}
      </p>
      {CAPPED.has(rule) && delays.cap ? (
        <p className="text-soft">
          Sent today by {delays.cap.of ?? "the team"}: {delays.cap.handedOver.toLocaleString("en")} of{" "}
          {delays.cap.allowed.toLocaleString("en")} recipients.
        </p>
      ) : null}
      {rule === "relay_paused"
        ? delays.relays.map(({ name, next_attempt_at, fault }) => (
            <p key={name} className="break-words text-soft">
              Relay <span className="text-ink">{name}</span> is paused. Next attempt{" "}
              <When at={next_attempt_at} />
              {fault ? `: ${fault}` : "."}
            </p>
          ))
        : null}
    </>
  );
}
