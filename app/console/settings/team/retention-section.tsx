"use client";

import { type ComponentProps, useState } from "react";
import { Confirm } from "../../_ui/dialog/confirm";
import { ActionForm } from "../../_ui/form/action-form";
import { SelectField } from "../../_ui/form/form";
import { Section } from "../../_ui/page/card";
import { useDisabledReason } from "../../_ui/page/permission";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

/** Retention in days, of message content and of whole message records. Null: forever. */
type Retention = { bodiesDays: number | null; emailsDays: number | null };

const COMMON_DAYS = [null, 7, 14, 30, 60, 90, 180, 365, 730] as const;

/** The options, including the current value. */
const optionsWith = (days: number | null): (number | null)[] =>
  [...new Set([...COMMON_DAYS, days])].sort(
    (one, other) => (one ?? Number.POSITIVE_INFINITY) - (other ?? Number.POSITIVE_INFINITY),
  );

function formatDays(days: number | null): string {
  if (days === null) return "Forever";
  if (days % 365 === 0) return days === 365 ? "1 year" : `${days / 365} years`;
  return days === 1 ? "1 day" : `${days} days`;
}

/** The retention of email. Requires confirmation, because deleted email cannot be restored. */
export function RetentionSection({ teamId, retention }: { teamId: string; retention: Retention }) {
  const trpc = useTRPC();
  const disabledReason = useDisabledReason()("team:write", "change the team");
  const [chosen, setChosen] = useState<Retention | null>(null);
  const [isConfirming, setConfirming] = useState(false);
  const saving = useAction(trpc.team.setRetention.mutationOptions(), {
    done: "Saved",
    refresh: [trpc.team.settings.queryKey()],
    onDone: () => {
      setConfirming(false);
      setChosen(null);
    },
  });
  const value = chosen ?? retention;
  const isForever = value.bodiesDays === null && value.emailsDays === null;
  const isUnchanged = value.bodiesDays === retention.bodiesDays && value.emailsDays === retention.emailsDays;
  const isInvalid =
    value.bodiesDays !== null && value.emailsDays !== null && value.bodiesDays > value.emailsDays;
  return (
    <Section
      title="Email retention"
      note="Counted from the time an email was accepted. Queued and held email, and email sent in the last 14 days, is not deleted. New teams keep message content for 90 days and message records forever."
    >
      <ActionForm
        onSubmit={() => setConfirming(true)}
        action={{ isBusy: false, fault: null }}
        submitLabel="Save retention…"
        disabled={isUnchanged || isInvalid}
        disabledReason={disabledReason}
      >
        <DaysField
          label="Message content"
          hint="Text, HTML and attachments. The email stays in the list with its recipients and history."
          saved={retention.bodiesDays}
          days={value.bodiesDays}
          disabled={disabledReason !== undefined}
          onDays={(bodiesDays) => setChosen({ ...value, bodiesDays })}
        />
        <DaysField
          label="Message records"
          hint="Emails with their recipients and history. Daily statistics are kept."
          error={isInvalid ? "Choose a period at least as long as for message content." : null}
          saved={retention.emailsDays}
          days={value.emailsDays}
          disabled={disabledReason !== undefined}
          onDays={(emailsDays) => setChosen({ ...value, emailsDays })}
        />
      </ActionForm>
      {isConfirming ? (
        <Confirm
          onOpenChange={() => {
            setConfirming(false);
            saving.reset();
          }}
          title={isForever ? "Keep all email forever?" : "Delete old email?"}
          confirmLabel={isForever ? "Keep forever" : "Delete old email"}
          tone={isForever ? "plain" : "bad"}
          action={saving}
          onConfirm={() => saving.run({ team: teamId, ...value })}
        >
          <Consequences {...value} />
        </Confirm>
      ) : null}
    </Section>
  );
}

type DaysProps = Pick<ComponentProps<typeof SelectField>, "label" | "hint" | "error" | "disabled"> & {
  /** The value in the database, which is an option even if it is unusual. */
  saved: number | null;
  days: number | null;
  onDays: (days: number | null) => void;
};

function DaysField({ saved, days, onDays, ...field }: DaysProps) {
  return (
    <SelectField
      {...field}
      value={String(days ?? "")}
      options={optionsWith(saved).map((option) => ({
        value: String(option ?? ""),
        label: formatDays(option),
      }))}
      onChange={({ target }) => onDays(target.value === "" ? null : Number(target.value))}
    />
  );
}

/** What a change of the retention does. */
const Consequences = ({ bodiesDays, emailsDays }: Retention) => (
  <>
    {bodiesDays === null ? null : (
      <p>
        Text, HTML and attachments of emails older than{" "}
        <strong className="font-semibold text-ink">{formatDays(bodiesDays)}</strong> are deleted. For emails
        that are already older, this happens within minutes. You cannot send these emails again.
      </p>
    )}
    {emailsDays === null ? null : (
      <p>
        Emails older than <strong className="font-semibold text-ink">{formatDays(emailsDays)}</strong> are
        deleted with their recipients and history.
      </p>
    )}
    <p>
      {bodiesDays === null && emailsDays === null
        ? "No email is deleted from now on. Deleted email cannot be restored."
        : "This cannot be undone. Sent email is kept for at least 14 days, because it can still bounce. Queued and held email is not deleted."}
    </p>
  </>
);
