import type { EmailView, RecipientView } from "#server/trpc/email-views";
import { sayRule } from "../../_ui/reasons";
import { StatusBadge } from "../../_ui/status-badge";
import { cardStyle } from "../../_ui/styles";
import { When } from "../../_ui/when";

const KINDS = { to: "To", cc: "Cc", bcc: "Bcc" } as const;

type Holds = EmailView["holds"];

/** Where each recipient stands, and why. */
export function Recipients({ recipients, holds }: { recipients: RecipientView[]; holds: Holds }) {
  return (
    <section aria-labelledby="recipients" className={cardStyle}>
      <h2 id="recipients" className="border-line border-b px-4 py-3 font-semibold">
        {recipients.length === 1 ? "Recipient" : `${recipients.length} recipients`}
      </h2>
      <ul className="divide-y divide-line">
        {recipients.map((recipient) => (
          <li key={recipient.id} className="flex flex-col gap-1.5 px-4 py-3">
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
            <Waiting recipient={recipient} holds={holds} />
            {recipient.attempts > 0 ? (
              <p className="text-soft text-xs">
                {recipient.attempts === 1 ? "1 attempt" : `${recipient.attempts} attempts`}
                {recipient.host ? (
                  <>
                    {" at "}
                    <span className="wrap-anywhere font-mono">{recipient.host}</span>
                  </>
                ) : null}
                {recipient.relay ? <>, by the relay {recipient.relay}</> : null}
              </p>
            ) : null}
            {recipient.providerId ? (
              <p className="text-soft text-xs">
                Its provider calls it <code className="wrap-anywhere font-mono">{recipient.providerId}</code>
              </p>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

const CAPPED = new Set(["daily_cap", "warm_up", "team_daily_cap"]);

function Waiting({ recipient, holds }: { recipient: RecipientView; holds: Holds }) {
  const { nextAttemptAt, rule, status } = recipient;
  if (status === "unknown")
    return <p className="text-soft">Held until somebody decides: it may have arrived, or not.</p>;
  if (status === "scheduled" && nextAttemptAt)
    return (
      <p className="text-soft">
        Goes out <When at={nextAttemptAt} className="text-ink" />.
      </p>
    );
  if (!rule) return null;
  return (
    <>
      <p className="text-soft">
        {nextAttemptAt ? (
          <>
            Next attempt <When at={nextAttemptAt} className="text-ink" />,{" "}
          </>
        ) : (
          "Waits: "
        )}
        {sayRule(rule)}.
      </p>
      {CAPPED.has(rule) && holds.cap ? (
        <p className="text-soft">
          Today {holds.cap.of ?? "the team"} has written to {holds.cap.handedOver.toLocaleString("en")} of{" "}
          {holds.cap.allowed.toLocaleString("en")} recipients.
        </p>
      ) : null}
      {rule === "relay_paused"
        ? holds.relays.map(({ name, nextTryAt, fault }) => (
            <p key={name} className="break-words text-soft">
              The relay <span className="text-ink">{name}</span> is paused and tried again{" "}
              <When at={nextTryAt} />
              {fault ? `: ${fault}` : "."}
            </p>
          ))
        : null}
    </>
  );
}
