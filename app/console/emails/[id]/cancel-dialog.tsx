"use client";

import { Confirm } from "../../_ui/confirm";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import type { ActProps } from "./acts";

/** Calls a scheduled mail off. */
export function CancelDialog({ teamId, email, open, onOpenChange }: ActProps) {
  const trpc = useTRPC();
  const { act, isBusy, fault } = useAct(trpc.emails.cancel.mutationOptions(), {
    done: "Canceled",
    refresh: [trpc.emails.pathKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title="Cancel this mail?"
      confirmLabel="Cancel the mail"
      wayOutLabel="Keep it"
      isBusy={isBusy}
      fault={fault}
      onConfirm={() => act({ team: teamId, id: email.id })}
    >
      <p>
        It is called off for good, for{" "}
        {email.recipients.length === 1 ? "its recipient" : `all its ${email.recipients.length} recipients`}.
        Nothing was sent yet. To send it after all, a new one has to be made.
      </p>
    </Confirm>
  );
}
