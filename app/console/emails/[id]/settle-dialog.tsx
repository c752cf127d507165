"use client";

import { useState } from "react";
import { Confirm } from "../../_ui/confirm";
import { RadioCards } from "../../_ui/form";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import type { ActProps } from "./acts";

type Settling = "sent" | "retry";

/** Decides what nobody can know: whether recipients of unknown outcome are written to again. */
export function SettleDialog({ teamId, email, open, onOpenChange }: ActProps) {
  const trpc = useTRPC();
  const [as, setAs] = useState<Settling>("sent");
  const unknown = email.recipients.filter(({ status }) => status === "unknown");
  const { act, isBusy, fault } = useAct(trpc.emails.settle.mutationOptions(), {
    done: as === "sent" ? "Taken as sent" : "Back in the queue",
    refresh: [trpc.emails.pathKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title="Did it arrive?"
      confirmLabel={as === "sent" ? "Take it as sent" : "Send it again"}
      tone="plain"
      isBusy={isBusy}
      fault={fault}
      onConfirm={() => act({ team: teamId, id: email.id, as })}
    >
      <p>
        The message was handed to the mail server, and the connection broke before it answered. Nobody can
        tell whether it was taken for{" "}
        <span className="wrap-anywhere text-ink">{unknown.map(({ address }) => address).join(", ")}</span>.
      </p>
      <RadioCards
        label="What shall become of it"
        name="settling"
        value={as}
        onChange={({ target }) => setAs(target.value === "retry" ? "retry" : "sent")}
        options={[
          { value: "sent", label: "Take it as sent", hint: "If it was lost, they never get it." },
          { value: "retry", label: "Send it again", hint: "If it arrived, they get it twice." },
        ]}
      />
    </Confirm>
  );
}
