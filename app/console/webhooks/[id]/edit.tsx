"use client";

import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { SubmitButton } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { EndpointFields, type EndpointInput, urlFaultOf } from "../endpoint-fields";
import { isSentEvent } from "../events";
import type { EndpointDialogProps } from "./actions";

/** Changes where an endpoint is and what it hears of. */
export function EditEndpoint({ teamId, endpoint, open, onOpenChange }: EndpointDialogProps) {
  const trpc = useTRPC();
  const asked = endpoint.events as EndpointInput["events"];
  const form = useForm<EndpointInput>({
    defaultValues: { url: endpoint.url, events: asked.filter(isSentEvent) },
  });
  const editing = useAct(trpc.webhooks.update.mutationOptions(), {
    done: "Webhook changed",
    refresh: [trpc.webhooks.get.queryKey(), trpc.webhooks.list.queryKey()],
    onDone: () => onOpenChange(false),
  });
  const { fault } = editing;
  // Names that never come stand in no box, and stay as the API was told them.
  const others = asked.filter((name) => !isSentEvent(name));
  const save = ({ url, events }: EndpointInput) =>
    editing.act({
      team: teamId,
      id: endpoint.id,
      events: [...events, ...others],
      // The same address again would forget its run of failures.
      ...(url.trim() === endpoint.url ? {} : { url }),
    });
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Edit the webhook"
      description="With another address it begins anew: no failures, no pause."
      size="wide"
    >
      <form onSubmit={form.handleSubmit(save)} noValidate className="flex flex-col gap-5">
        <EndpointFields form={form} fault={fault} />
        {others.length > 0 ? (
          <p className="text-soft text-xs leading-5">
            It also asks for {others.length} names that Posthorn never sends. They stay as they are.
          </p>
        ) : null}
        <FormFault fault={urlFaultOf(fault) === null ? fault : null} />
        <DialogActions>
          <button type="button" onClick={() => onOpenChange(false)} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton isBusy={editing.isBusy}>Save</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}
