"use client";

import { useState } from "react";
import { Confirm } from "../../_ui/dialog/confirm";
import { CheckboxField } from "../../_ui/form/form";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { type EmailDialogProps, retryableRecipients } from "./email-actions";

/** Retries the email for all recipients who did not receive it, or for some of them. */
export function RetryDialog({ teamId, email, open, onOpenChange }: EmailDialogProps) {
  const trpc = useTRPC();
  const [excluded, setExcluded] = useState<ReadonlySet<string>>(new Set());
  const addresses = retryableRecipients(email).map(({ address }) => address);
  const selected = addresses.filter((address) => !excluded.has(address));
  const { run, isBusy, fault, reset } = useAction(trpc.emails.retry.mutationOptions(), {
    done: ({ recipients }) =>
      recipients === 1 ? "Queued for retry" : `Queued for retry: ${recipients} recipients`,
    refresh: [trpc.emails.pathKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={(isOpen) => {
        reset();
        onOpenChange(isOpen);
      }}
      title="Retry this email?"
      confirmLabel={selected.length === 1 ? "Retry" : `Retry ${selected.length} recipients`}
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
        {addresses.length === 1 ? "" : "the recipients selected below. "}
        {addresses.length === 1 ? <span className="wrap-anywhere text-ink">{addresses[0]}</span> : null}
        {addresses.length === 1 ? ". " : ""}
        Recipients who already received it are not included.
      </p>
      {addresses.length > 1 ? (
        <div className="flex flex-col gap-2">
          {addresses.map((address) => (
            <CheckboxField
              key={address}
              label={<span className="wrap-anywhere text-ink">{address}</span>}
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
