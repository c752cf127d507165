"use client";

import { Confirm } from "../../_ui/dialog/confirm";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { EmailDialogProps } from "./email-actions";

/** Cancels a scheduled email. */
export function CancelDialog({ teamId, email, open, onOpenChange }: EmailDialogProps) {
  const trpc = useTRPC();
  const { run, isBusy, fault } = useAction(trpc.emails.cancel.mutationOptions(), {
    done: "Email canceled",
    refresh: [trpc.emails.pathKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title="Cancel this email?"
      confirmLabel="Cancel email"
      dismissLabel="Keep schedule"
      isBusy={isBusy}
      fault={fault}
      onConfirm={() => run({ team: teamId, id: email.id })}
    >
      <p>
        The email is canceled for{" "}
        {email.recipients.length === 1 ? "its recipient" : `all ${email.recipients.length} recipients`}.
        Nothing has been sent yet. You cannot undo this; to send the email later, create a new one.
      </p>
    </Confirm>
  );
}
