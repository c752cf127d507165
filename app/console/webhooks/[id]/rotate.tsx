"use client";

import { Confirm } from "../../_ui/dialog/confirm";
import { Dialog } from "../../_ui/dialog/dialog";
import { SecretOnce } from "../../_ui/dialog/secret-once";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { EndpointDialogProps } from "./actions";

/** Creates a new signing secret and shows it once. The old secret also signs for one more day. */
export function RotateSecret({ teamId, endpoint, open, onOpenChange }: EndpointDialogProps) {
  const trpc = useTRPC();
  const rotation = useAction(trpc.webhooks.rotate.mutationOptions({ gcTime: 0 }), {
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
        title="New signing secret"
        description={
          endpoint.previousUntil ? (
            <>
              Each request has both signatures until the old secret expires{" "}
              <When at={endpoint.previousUntil} />.
            </>
          ) : (
            "Each request has both signatures for one day."
          )
        }
        isPersistent
      >
        <SecretOnce secret={result.signingSecret} label="Signing secret" onStored={close} />
      </Dialog>
    );
  return (
    <Confirm
      open={open}
      onOpenChange={close}
      title="Rotate signing secret?"
      confirmLabel="Rotate secret"
      tone="plain"
      isBusy={rotation.isBusy}
      fault={fault}
      onConfirm={() => rotation.run({ team: teamId, id: endpoint.id })}
    >
      <p>
        Each request is signed with the new secret, and for one more day also with the current one. Your
        program can verify with either secret during that day.
      </p>
      {endpoint.previousUntil ? (
        <p className="text-ink">
          Two secrets are already active. The older one expires immediately instead of{" "}
          <When at={endpoint.previousUntil} />.
        </p>
      ) : null}
    </Confirm>
  );
}
