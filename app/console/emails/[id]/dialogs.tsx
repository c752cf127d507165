"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { hourMs } from "#server/shared/durations";
import type { EmailView } from "#server/trpc/emails/views";
import { Confirm } from "../../_ui/dialog/confirm";
import { Dialog } from "../../_ui/dialog/dialog";
import { FormDialog } from "../../_ui/dialog/form-dialog";
import { Button } from "../../_ui/form/button";
import { CheckboxField, RadioCards, TextField } from "../../_ui/form/form";
import { formatNumber } from "../../_ui/format-number";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { Address, AddressText } from "../../_ui/text/address";
import { CodeBlock } from "../../_ui/text/code-block";
import { toLocal } from "../../_ui/text/local-time";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { retryableRecipients } from "./attempts";

/** The props of every dialog about an email. */
export type EmailDialogProps = { teamId: string; email: EmailView; onClose: () => void };

/** What follows after the action of a dialog. */
function useAfter(onClose: () => void) {
  const trpc = useTRPC();
  return { refresh: [trpc.emails.pathKey()], onDone: onClose };
}

/** Cancels a scheduled email. */
export function CancelDialog({ teamId, email, onClose }: EmailDialogProps) {
  const trpc = useTRPC();
  const done = "Email canceled";
  const action = useAction(trpc.emails.cancel.mutationOptions(), { done, ...useAfter(onClose) });
  return (
    <Confirm
      onOpenChange={onClose}
      title="Cancel this email?"
      confirmLabel="Cancel email"
      dismissLabel="Keep schedule"
      action={action}
      onConfirm={() => action.run({ team: teamId, id: email.id })}
    >
      <p>
        The email is canceled for{" "}
        {email.recipients.length === 1
          ? "its recipient"
          : `all ${formatNumber(email.recipients.length)} recipients`}
        . Nothing has been sent yet. You cannot undo this; to send the email later, create a new one.
      </p>
    </Confirm>
  );
}

/** Shows the curl command that sends the same email. */
export function CurlDialog({ teamId, email, onClose }: EmailDialogProps) {
  const trpc = useTRPC();
  const call = useQuery(trpc.emails.asCall.queryOptions({ team: teamId, id: email.id }));
  return (
    <Dialog
      onOpenChange={onClose}
      size="wide"
      title="Copy as curl"
      description={
        <>
          The command reads the API key from <code className="font-mono text-ink">BACKSTAMP_KEY</code>.
          {email.files.length > 0 ? " Replace each file name with the content of the file in base64." : ""}{" "}
          Running the command sends a new email.
        </>
      }
    >
      <Fetched by={call} loading={<SkeletonCard lines={6} />}>
        {({ command }) => <CodeBlock text={command} label="Command" language="sh" />}
      </Fetched>
    </Dialog>
  );
}

const RESOLUTIONS = [
  {
    value: "sent",
    label: "Mark as sent",
    done: "Marked as sent",
    hint: "If the email was lost, it is never delivered.",
  },
  {
    value: "failed",
    label: "Mark as failed",
    done: "Marked as failed",
    hint: "Nothing is sent now. If the email was delivered and you retry it later, it is delivered twice.",
  },
  {
    value: "retry",
    label: "Send again",
    done: "Queued for retry",
    hint: "If the email was delivered, it is delivered twice.",
  },
] as const;

/** Resolves an unknown outcome: the user marks the email as sent or sends it again. */
export function ResolveDialog({ teamId, email, onClose }: EmailDialogProps) {
  const trpc = useTRPC();
  const [chosen, setChosen] = useState<(typeof RESOLUTIONS)[number]>(RESOLUTIONS[0]);
  const { value: as, label, done } = chosen;
  const unknown = email.recipients.filter(({ status }) => status === "unknown");
  const action = useAction(trpc.emails.settle.mutationOptions(), { done, ...useAfter(onClose) });
  return (
    <Confirm
      onOpenChange={onClose}
      title="Resolve unknown outcome"
      confirmLabel={label}
      tone="plain"
      action={action}
      onConfirm={() => action.run({ team: teamId, id: email.id, as })}
    >
      <p>
        The message was transmitted, but the connection broke before the mail server responded. The outcome is
        unknown for{" "}
        <span className="text-ink">
          <AddressText>{`${unknown.map(({ address }) => address).join(", ")}.`}</AddressText>
        </span>
      </p>
      <RadioCards
        label="Resolution"
        name="resolution"
        value={as}
        onChange={({ target }) =>
          setChosen(RESOLUTIONS.find(({ value }) => value === target.value) ?? chosen)
        }
        options={RESOLUTIONS}
      />
    </Confirm>
  );
}

/** Retries the email for all recipients who did not receive it, or for some of them. */
export function RetryDialog({ teamId, email, onClose }: EmailDialogProps) {
  const trpc = useTRPC();
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set());
  const addresses = retryableRecipients(email).map(({ address }) => address);
  const selected = addresses.filter((address) => !excluded.has(address));
  const { run, isBusy, fault } = useAction(trpc.emails.retry.mutationOptions(), {
    done: ({ recipients }) =>
      recipients === 1 ? "Queued for retry" : `Queued for retry: ${formatNumber(recipients)} recipients`,
    ...useAfter(onClose),
  });
  return (
    <Confirm
      onOpenChange={onClose}
      title="Retry this email?"
      confirmLabel={selected.length === 1 ? "Retry" : `Retry ${formatNumber(selected.length)} recipients`}
      tone="plain"
      isBusy={isBusy || selected.length === 0}
      fault={fault}
      onConfirm={() =>
        run({
          team: teamId,
          id: email.id,
          acceptDuplicates: false,
          ...(selected.length < addresses.length ? { recipients: selected } : {}),
        })
      }
    >
      <p>
        The same message is sent again now to{" "}
        {addresses.length === 1 ? (
          <span className="text-ink">
            <Address>{addresses[0] ?? ""}</Address>
          </span>
        ) : (
          "the recipients selected below"
        )}
        . Recipients who already received it are not included.
      </p>
      {addresses.length > 1 ? (
        <div className="flex flex-col gap-2">
          {addresses.map((address) => (
            <CheckboxField
              key={address}
              label={
                <span className="text-ink">
                  <Address>{address}</Address>
                </span>
              }
              checked={!excluded.has(address)}
              onChange={({ target }) =>
                setExcluded(
                  new Set(
                    target.checked
                      ? [...excluded].filter((each) => each !== address)
                      : [...excluded, address],
                  ),
                )
              }
            />
          ))}
        </div>
      ) : null}
    </Confirm>
  );
}

/**
 * Reschedules an email. The field begins with its current time, and is in the time zone of the browser, which
 * it names.
 */
export function RescheduleDialog({ teamId, email, onClose }: EmailDialogProps) {
  const trpc = useTRPC();
  const [date, setDate] = useState(() => toLocal(new Date(email.scheduled_at ?? Date.now())));
  const at = new Date(date);
  const isTime = !Number.isNaN(at.getTime());
  const done = "Rescheduled";
  const rescheduling = useAction(trpc.emails.reschedule.mutationOptions(), { done, ...useAfter(onClose) });
  return (
    <FormDialog
      onClose={onClose}
      title="Reschedule email"
      onSubmit={() => rescheduling.run({ team: teamId, id: email.id, at: at.toISOString() })}
      action={rescheduling}
      cancelLabel="Keep schedule"
      submitLabel="Reschedule"
      disabled={!isTime}
    >
      <TextField
        label="Send at"
        type="datetime-local"
        hint={`In your time zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}. At most 30 days from now.`}
        value={date}
        onChange={({ target }) => setDate(target.value)}
      />
      <fieldset className="flex flex-wrap gap-2">
        <legend className="sr-only">Frequent times</legend>
        {frequentTimes(new Date()).map(({ label, at: time }) => (
          <Button key={label} isSmall onClick={() => setDate(toLocal(time))}>
            {label}
          </Button>
        ))}
      </fieldset>
      <p role="status" className="min-h-5">
        {isTime ? (
          <>
            The email will be sent on <strong>{at.toLocaleString("en-GB", LONG)}</strong>.
          </>
        ) : null}
      </p>
    </FormDialog>
  );
}

/** Times that most rescheduled emails get. */
function frequentTimes(now: Date): { label: string; at: Date }[] {
  const morningIn = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 9);
  const untilMonday = (8 - now.getDay()) % 7 || 7;
  return [
    { label: "In 1 hour", at: new Date(now.getTime() + hourMs) },
    { label: "Tomorrow, 09:00", at: morningIn(1) },
    { label: "Monday, 09:00", at: morningIn(untilMonday) },
  ];
}

const LONG = {
  weekday: "long",
  day: "numeric",
  month: "long",
  hour: "2-digit",
  minute: "2-digit",
  timeZoneName: "short",
} as const;
