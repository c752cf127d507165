"use client";

import { type ComponentProps, Suspense, useState } from "react";
import { ActionForm } from "../../_ui/form/action-form";
import { SelectField } from "../../_ui/form/form";
import { lazyPart } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { Section } from "../../_ui/page/section";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { formatDays, optionsWith, type Retention } from "./retention-days";

const ConfirmRetention = lazyPart(async () => (await import("./confirm-retention")).ConfirmRetention);

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
      <ActionForm
        onSubmit={(event) => {
          event.preventDefault();
          setConfirming(true);
        }}
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
      onChange={({ target }) => onDays(target.value === "" ? null : Number(target.value))}
    >
      {optionsWith(saved).map((option) => (
        <option key={option} value={String(option ?? "")}>
          {formatDays(option)}
        </option>
      ))}
    </SelectField>
  );
}
