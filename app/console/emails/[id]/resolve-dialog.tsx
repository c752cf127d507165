"use client";

import { useState } from "react";
import { Confirm } from "../../_ui/dialog/confirm";
import { RadioCards } from "../../_ui/form/form";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { EmailDialogProps } from "./email-actions";

type Resolution = "sent" | "retry";

/** Resolves an unknown outcome: the user marks the email as sent or sends it again. */
export function ResolveDialog({ teamId, email, open, onOpenChange }: EmailDialogProps) {
  const trpc = useTRPC();
  const [as, setAs] = useState<Resolution>("sent");
  const unknown = email.recipients.filter(({ status }) => status === "unknown");
  const { run, isBusy, fault } = useAction(trpc.emails.settle.mutationOptions(), {
    done: as === "sent" ? "Marked as sent" : "Queued for retry",
    refresh: [trpc.emails.pathKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title="Resolve unknown outcome"
      confirmLabel={as === "sent" ? "Mark as sent" : "Send again"}
      tone="plain"
      isBusy={isBusy}
      fault={fault}
      onConfirm={() => run({ team: teamId, id: email.id, as })}
    >
      <p>
        The message was transmitted, but the connection broke before the mail server responded. The outcome is
        unknown for{" "}
        <span className="wrap-anywhere text-ink">{unknown.map(({ address }) => address).join(", ")}</span>.
      </p>
      <RadioCards
        label="Resolution"
        name="resolution"
        value={as}
        onChange={({ target }) => setAs(target.value === "retry" ? "retry" : "sent")}
        options={[
          { value: "sent", label: "Mark as sent", hint: "If the email was lost, it is never delivered." },
          { value: "retry", label: "Send again", hint: "If the email was delivered, it is delivered twice." },
        ]}
      />
    </Confirm>
  );
}
