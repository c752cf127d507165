"use client";

import Link from "next/link";
import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../_ui/dialog/dialog";
import { SecretOnce } from "../_ui/dialog/secret-once";
import { SubmitButton } from "../_ui/form/form";
import { FormFault } from "../_ui/form/form-fault";
import { buttonStyle, linkStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import { EndpointFields, type EndpointInput, urlFaultOf } from "./endpoint-fields";

type Props = { teamId: string; open: boolean; onOpenChange: (open: boolean) => void };

const DEFAULT_EVENTS: EndpointInput["events"] = [
  "email.delivered",
  "email.bounced",
  "email.complained",
  "email.failed",
];

/** Adds an endpoint, then shows its signing secret once. */
export function AddEndpoint({ teamId, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const form = useForm<EndpointInput>({ defaultValues: { url: "", events: DEFAULT_EVENTS } });
  const adding = useAction(trpc.webhooks.create.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.webhooks.list.queryKey(), trpc.webhooks.heldUnknown.queryKey()],
  });
  const close = () => {
    onOpenChange(false);
    adding.reset();
    form.reset();
  };
  const { result, fault } = adding;
  if (result)
    return (
      <Dialog
        open={open}
        onOpenChange={close}
        title="Signing secret"
        description={
          <>
            Your program verifies requests with it.{" "}
            <Link href={hrefOf(`/console/webhooks/${result.id}`)} onClick={close} className={linkStyle}>
              The webhook page
            </Link>{" "}
            has sample code.
          </>
        }
        isPersistent
      >
        <SecretOnce secret={result.signingSecret} label="Signing secret" onStored={close} />
      </Dialog>
    );
  return (
    <Dialog open={open} onOpenChange={close} title="Add webhook" size="wide">
      <form
        onSubmit={form.handleSubmit((fields) => adding.run({ team: teamId, ...fields }))}
        noValidate
        className="flex flex-col gap-5"
      >
        <EndpointFields form={form} fault={fault} />
        <FormFault fault={urlFaultOf(fault) === null ? fault : null} />
        <DialogActions>
          <button type="button" onClick={close} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton isBusy={adding.isBusy}>Add webhook</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}
