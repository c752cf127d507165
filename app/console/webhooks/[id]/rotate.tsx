"use client";

import { Confirm } from "../../_ui/confirm";
import { Dialog } from "../../_ui/dialog";
import { SecretOnce } from "../../_ui/secret-once";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { When } from "../../_ui/when";
import type { EndpointDialogProps } from "./actions";

/** Gives an endpoint a new signing secret, which is shown this once; the old one signs beside it for a day. */
export function RotateSecret({ teamId, endpoint, open, onOpenChange }: EndpointDialogProps) {
  const trpc = useTRPC();
  const rotation = useAct(trpc.webhooks.rotate.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.webhooks.get.queryKey(), trpc.webhooks.list.queryKey()],
  });
  const close = () => {
    onOpenChange(false);
    rotation.reset();
  };
  const { result, fault } = rotation;
  if (result)
    return (
      <Dialog
        open={open}
        onOpenChange={close}
        title="The new signing secret"
        description={
          endpoint.previousUntil ? (
            <>
              Each call bears both signatures until the old secret ends, <When at={endpoint.previousUntil} />.
            </>
          ) : (
            "Each call bears both signatures for a day."
          )
        }
        isKept
      >
        <SecretOnce secret={result.signingSecret} label="Signing secret" onStored={close} />
      </Dialog>
    );
  return (
    <Confirm
      open={open}
      onOpenChange={close}
      title="Rotate the signing secret?"
      confirmLabel="Rotate the secret"
      tone="plain"
      isBusy={rotation.isBusy}
      fault={fault}
      onConfirm={() => rotation.act({ team: teamId, id: endpoint.id })}
    >
      <p>
        A new secret signs from now on. The one of today signs beside it for a day, so that your program can
        change in peace: whoever checks with either finds its signature.
      </p>
      {endpoint.previousUntil ? (
        <p className="text-ink">
          Two secrets are live already. The older of them ends at once, not{" "}
          <When at={endpoint.previousUntil} />.
        </p>
      ) : null}
    </Confirm>
  );
}
