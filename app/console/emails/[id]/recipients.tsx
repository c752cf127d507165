import type { RecipientView } from "#server/trpc/email-views";
import { sayRule } from "../../_ui/reasons";
import { StatusBadge } from "../../_ui/status-badge";
import { cardStyle } from "../../_ui/styles";
import { When } from "../../_ui/when";

const KINDS = { to: "To", cc: "Cc", bcc: "Bcc" } as const;

/** Where each recipient stands, and why. */
export function Recipients({ recipients }: { recipients: RecipientView[] }) {
  return (
    <section aria-labelledby="recipients" className={cardStyle}>
      <h2 id="recipients" className="border-line border-b px-4 py-3 font-semibold">
        {recipients.length === 1 ? "Recipient" : `${recipients.length} recipients`}
      </h2>
      <ul className="divide-y divide-line">
        {recipients.map((recipient) => (
          <li key={recipient.id} className="flex flex-col gap-1.5 px-4 py-3">
            <div className="flex items-start justify-between gap-3">
              <span className="min-w-0 break-all font-medium">
                <span className="mr-1.5 font-normal text-soft text-xs">{KINDS[recipient.kind]}</span>
                {recipient.address}
              </span>
              <StatusBadge status={recipient.status} />
            </div>
            {recipient.reason ? <p className="break-words text-soft">{recipient.reason}</p> : null}
            {recipient.advice ? <p className="break-words text-soft">{recipient.advice}</p> : null}
            <Waiting recipient={recipient} />
            {recipient.attempts > 0 ? (
              <p className="text-soft text-xs">
                {recipient.attempts === 1 ? "1 attempt" : `${recipient.attempts} attempts`}
                {recipient.host ? (
                  <>
                    {" at "}
                    <span className="break-all font-mono">{recipient.host}</span>
                  </>
                ) : null}
              </p>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Waiting({ recipient: { nextAttemptAt, rule } }: { recipient: RecipientView }) {
  if (!rule) return null;
  return (
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
  );
}
