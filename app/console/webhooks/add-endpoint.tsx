"use client";

import Link from "next/link";
import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../_ui/dialog";
import { SubmitButton } from "../_ui/form";
import { FormFault } from "../_ui/form-fault";
import { SecretOnce } from "../_ui/secret-once";
import { buttonStyle, linkStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { useAct } from "../_ui/use-act";
import { EndpointFields, type EndpointInput, urlFaultOf } from "./endpoint-fields";

type Props = { teamId: string; open: boolean; onOpenChange: (open: boolean) => void };

const USUAL: EndpointInput["events"] = [
  "email.delivered",
  "email.bounced",
  "email.complained",
  "email.failed",
];

/** Adds an endpoint, and shows its signing secret this once. */
export function AddEndpoint({ teamId, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const form = useForm<EndpointInput>({ defaultValues: { url: "", events: USUAL } });
  const adding = useAct(trpc.webhooks.create.mutationOptions({ gcTime: 0 }), {
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
        title="Its signing secret"
        description={
          <>
            Your program checks with it that a call is ours.{" "}
            <Link href={hrefOf(`/console/webhooks/${result.id}`)} onClick={close} className={linkStyle}>
              The webhook's page
            </Link>{" "}
            has the code for that.
          </>
        }
        isKept
      >
        <SecretOnce secret={result.signingSecret} label="Signing secret" onStored={close} />
      </Dialog>
    );
  return (
    <Dialog open={open} onOpenChange={close} title="Add a webhook" size="wide">
      <form
        onSubmit={form.handleSubmit((fields) => adding.act({ team: teamId, ...fields }))}
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
