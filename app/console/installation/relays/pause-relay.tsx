"use client";

import { useForm } from "react-hook-form";
import type { RelayRow } from "#server/trpc/installation/relays";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { TextField } from "../../_ui/form/form";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

type Props = { relay: RelayRow; onClose: () => void };

/** Pauses a relay, with the reason. */
export function PauseRelay({ relay: { id, name }, onClose }: Props) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState } = useForm({ defaultValues: { reason: "" } });
  const pausing = useAction(trpc.relays.pause.mutationOptions(), {
    done: `${name} paused`,
    refresh: [trpc.relays.list.queryKey(), trpc.service.readiness.queryKey()],
    onDone: onClose,
  });
  return (
    <Dialog
      onOpenChange={onClose}
      title={`Pause the relay ${name}`}
      description="Its email uses the next relay, or waits if there is none. Dialogues in progress finish."
    >
      <ActionForm
        onSubmit={handleSubmit(({ reason }) => pausing.run({ id, reason }))}
        action={pausing}
        onCancel={onClose}
        submitLabel="Pause relay"
      >
        <TextField
          label="Reason"
          hint="Shown with the email that waits."
          maxLength={500}
          autoComplete="off"
          error={formState.errors.reason}
          {...register("reason", { validate: (text) => text.trim() !== "" || "Enter a reason." })}
        />
      </ActionForm>
    </Dialog>
  );
}
