"use client";

import { useForm } from "react-hook-form";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { type ScopeFields, scopeOf } from "./scope";
import { QueueFields } from "./scope-fields";

/** Pauses sending for the installation, a team or a domain. */
export function PauseQueue({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const form = useForm<ScopeFields & { reason: string }>({
    defaultValues: { kind: "team", team: "", domain: "", reason: "" },
  });
  const pausing = useAction(trpc.queues.pause.mutationOptions(), {
    done: "Paused. No worker starts another dialogue.",
    refresh: [trpc.queues.status.queryKey(), trpc.service.pathKey(), trpc.installation.teams.queryKey()],
    onDone: onClose,
  });
  return (
    <Dialog
      onOpenChange={onClose}
      title="Pause sending"
      description="Email is accepted and stays queued. Dialogues in progress finish. Scheduled email keeps its schedule."
    >
      <ActionForm
        onSubmit={form.handleSubmit(({ reason, ...fields }) => pausing.run({ ...scopeOf(fields), reason }))}
        action={pausing}
        onCancel={onClose}
        submitLabel="Pause sending"
      >
        <QueueFields form={form} reasonHint="Shown to the team with every email that waits." />
      </ActionForm>
    </Dialog>
  );
}
