"use client";

import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog/dialog";
import { SubmitButton } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { EndpointFields, type EndpointInput, urlFaultOf } from "../endpoint-fields";
import { isSentEvent } from "../events";
import type { EndpointDialogProps } from "./actions";

/** Changes the URL and the events of an endpoint. */
export function EditEndpoint({ teamId, endpoint, open, onOpenChange }: EndpointDialogProps) {
  const trpc = useTRPC();
  const subscribed = endpoint.events as EndpointInput["events"];
  const form = useForm<EndpointInput>({
    defaultValues: { url: endpoint.endpoint, events: subscribed.filter(isSentEvent) },
  });
  const editing = useAction(trpc.webhooks.update.mutationOptions(), {
    done: "Webhook updated",
    refresh: [trpc.webhooks.get.queryKey(), trpc.webhooks.list.queryKey()],
    onDone: () => onOpenChange(false),
  });
  const { fault } = editing;
  // Events that Backstamp never sends have no checkbox. They stay as the API received them.
  const unsupported = subscribed.filter((name) => !isSentEvent(name));
  const save = ({ url, events }: EndpointInput) =>
    editing.run({
      team: teamId,
      id: endpoint.id,
      events: [...events, ...unsupported],
      // Updating the URL, even to the same value, resets the failure count.
      ...(url.trim() === endpoint.endpoint ? {} : { url }),
    });
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Edit webhook"
      description="A new URL resets the failure count and the status."
      size="wide"
    >
      <form onSubmit={form.handleSubmit(save)} noValidate className="flex flex-col gap-5">
        <EndpointFields form={form} fault={fault} />
        {unsupported.length > 0 ? (
          <p className="text-soft text-xs leading-5">
            It also subscribes to {unsupported.length} events that Backstamp never sends. They are not
            changed.
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
