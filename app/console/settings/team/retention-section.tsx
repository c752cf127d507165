"use client";

import { lazy, Suspense, useState } from "react";
import { SelectField, SubmitButton } from "../../_ui/form/form";
import { useDisabledReason } from "../../_ui/page/permission";
import { Section } from "../../_ui/page/section";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { daysToValue, formatDays, optionsWith, type Retention, valueToDays } from "./retention-days";

const ConfirmRetention = lazy(async () => ({
  default: (await import("./confirm-retention")).ConfirmRetention,
}));

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
  const isUnchanged = value.bodiesDays === retention.bodiesDays && value.emailsDays === retention.emailsDays;
  const isInvalid =
    value.bodiesDays !== null && value.emailsDays !== null && value.bodiesDays > value.emailsDays;
  return (
    <Section
      title="Email retention"
      note="Counted from the time an email was accepted. Queued, held and recently sent email is not deleted."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setConfirming(true);
        }}
        className="flex max-w-xl flex-col gap-5 px-5 pb-5"
      >
        <SelectField
          label="Message content"
          hint="Text, HTML and attachments. The email stays in the list with its recipients and history."
          value={daysToValue(value.bodiesDays)}
          disabled={disabledReason !== undefined}
          onChange={({ target }) => setChosen({ ...value, bodiesDays: valueToDays(target.value) })}
        >
          {optionsWith(retention.bodiesDays).map((days) => (
            <option key={daysToValue(days)} value={daysToValue(days)}>
              {formatDays(days)}
            </option>
          ))}
        </SelectField>
        <SelectField
          label="Message records"
          hint="Emails with their recipients and history. Daily statistics are kept."
          error={isInvalid ? "Choose a period at least as long as for message content." : null}
          value={daysToValue(value.emailsDays)}
          disabled={disabledReason !== undefined}
          onChange={({ target }) => setChosen({ ...value, emailsDays: valueToDays(target.value) })}
        >
          {optionsWith(retention.emailsDays).map((days) => (
            <option key={daysToValue(days)} value={daysToValue(days)}>
              {formatDays(days)}
            </option>
          ))}
        </SelectField>
        <div>
          <SubmitButton disabled={isUnchanged || isInvalid} disabledReason={disabledReason}>
            Save retention…
          </SubmitButton>
        </div>
      </form>
      <Suspense>
        {isConfirming ? (
          <ConfirmRetention
            retention={value}
            isBusy={saving.isBusy}
            fault={saving.fault}
            onConfirm={() => saving.run({ team: teamId, ...value })}
            onClose={() => {
              setConfirming(false);
              saving.reset();
            }}
          />
        ) : null}
      </Suspense>
    </Section>
  );
}
