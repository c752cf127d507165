"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Dialog } from "../../_ui/dialog/dialog";
import { FormDialog } from "../../_ui/dialog/form-dialog";
import { PartsActions } from "../../_ui/dialog/parts-actions";
import { faultOf } from "../../_ui/fault";
import { Button } from "../../_ui/form/button";
import { TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { useFields } from "../../_ui/form/use-fields";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { useParts } from "../../_ui/use-parts";
import { ReasonField, ScopeFields, type ScopeValues, scopeOf } from "../scope-fields";

type Chosen = ReturnType<typeof scopeOf> & { reason: string };

/**
 * Cancels the queued email of the installation, a team or a domain: first what and why, then a confirmation
 * by name.
 */
export function PurgeQueue({ onClose }: { onClose: () => void }) {
  const [chosen, setChosen] = useState<Chosen | null>(null);
  return chosen === null ? (
    <ChooseQueue onClose={onClose} onChoose={setChosen} />
  ) : (
    <ConfirmPurge chosen={chosen} onClose={onClose} />
  );
}

const NO_QUEUE: ScopeValues & { reason: string } = { kind: "team", team: "", domain: "", reason: "" };
const IDLE = { isBusy: false, fault: null };

function ChooseQueue({ onClose, onChoose }: { onClose: () => void; onChoose: (chosen: Chosen) => void }) {
  const form = useFields({ defaultValues: NO_QUEUE });
  return (
    <FormDialog
      onClose={onClose}
      title="Purge queue"
      description="Cancels queued email permanently, including retries. Pause the queue first: email that a worker has claimed is not canceled."
      onSubmit={form.handleSubmit(({ reason, ...fields }) => onChoose({ ...scopeOf(fields), reason }))}
      action={IDLE}
      submitLabel="Continue"
    >
      <ScopeFields label="Queue" form={form} />
      <ReasonField form={form} hint="Recorded with every email that is canceled." />
    </FormDialog>
  );
}

function ConfirmPurge({ chosen, onClose }: { chosen: Chosen; onClose: () => void }) {
  const trpc = useTRPC();
  const [typed, setTyped] = useState("");
  const { reason, ...scope } = chosen;
  const { data, error } = useQuery(trpc.queues.waiting.queryOptions(scope, { staleTime: 0, retry: false }));
  const { mutateAsync } = useMutation(trpc.queues.purge.mutationOptions());
  const purge = useParts(0, [trpc.queues.status.queryKey(), trpc.installation.teams.queryKey()]);
  const start = () =>
    purge.start(async (next, sum) => {
      const part = await mutateAsync({ ...chosen, confirm: typed, next });
      return { sum: sum + part.canceled, next: part.next };
    });
  const isRunning = purge.state === "busy";
  const fault = purge.fault ?? (error ? faultOf(error) : null);
  const isReady = purge.state === "ready";
  const footer = (
    <PartsActions parts={purge} onClose={onClose}>
      <Button onClick={onClose}>Keep queue</Button>
      <Button tone="danger" disabled={!data || typed.trim() !== data.name} onClick={start}>
        Cancel {data ? formatDeliveries(data.count, data.hasMore) : "deliveries"}
      </Button>
    </PartsActions>
  );
  return (
    <Dialog onOpenChange={onClose} title="Purge queue" isPersistent={isRunning} footer={footer}>
      {isReady && data ? (
        <>
          <p className="leading-6">
            <strong>{formatDeliveries(data.count, data.hasMore)}</strong> would be canceled permanently. This
            cannot be undone.
          </p>
          <TextField
            label={`Enter “${data.name}” to confirm`}
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </>
      ) : (
        <p role="status" className="leading-6">
          {isReady ? (error ? "" : "Counting…") : `${formatDeliveries(purge.sum)} canceled`}
          {isRunning ? "…" : ""}
          {purge.state === "stopped" ? ". Stopped: the rest stays queued." : ""}
        </p>
      )}
      <FormFault fault={fault} />
    </Dialog>
  );
}

const formatDeliveries = (count: number, more = false): string =>
  `${count.toLocaleString("en")}${more ? "+" : ""} ${count === 1 && !more ? "delivery" : "deliveries"}`;

/** Pauses sending for the installation, a team or a domain. */
export function PauseQueue({ onClose }: { onClose: () => void }) {
  const trpc = useTRPC();
  const form = useFields({ defaultValues: NO_QUEUE });
  const pausing = useAction(trpc.queues.pause.mutationOptions(), {
    done: "Paused. No worker starts another dialogue.",
    refresh: [trpc.queues.status.queryKey(), trpc.service.pathKey(), trpc.installation.teams.queryKey()],
    onDone: onClose,
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Pause sending"
      description="Email is accepted and stays queued. Dialogues in progress finish. Scheduled email keeps its schedule."
      onSubmit={form.handleSubmit(({ reason, ...fields }) => pausing.run({ ...scopeOf(fields), reason }))}
      action={pausing}
      submitLabel="Pause sending"
    >
      <ScopeFields label="Queue" form={form} />
      <ReasonField form={form} hint="Shown to the team with every email that waits." />
    </FormDialog>
  );
}
