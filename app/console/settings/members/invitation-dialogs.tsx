"use client";

import { Confirm } from "../../_ui/dialog/confirm";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { InvitationAction } from "./invitation-columns";
import { InvitationLink } from "./invitation-link";

type Props = { teamId: string; action: InvitationAction; onClose: () => void };

/** The confirmation dialog for an action on a pending invitation. */
export function InvitationDialog(props: Props) {
  return props.action.kind === "renew" ? <RenewDialog {...props} /> : <WithdrawDialog {...props} />;
}

function RenewDialog({ teamId, action: { invitation }, onClose }: Props) {
  const trpc = useTRPC();
  const renewal = useAction(trpc.invitations.renew.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.invitations.list.queryKey()],
  });
  if (renewal.result)
    return (
      <InvitationLink
        title={`New link for ${invitation.email}`}
        invitation={renewal.result}
        onClose={onClose}
      />
    );
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={`Create a new link for ${invitation.email}?`}
      confirmLabel="Create new link"
      tone="plain"
      isBusy={renewal.isBusy}
      fault={renewal.fault}
      onConfirm={() => renewal.run({ team: teamId, id: invitation.id })}
    >
      <p>The new link is valid for seven days. The previous link becomes invalid.</p>
    </Confirm>
  );
}

function WithdrawDialog({ teamId, action: { invitation }, onClose }: Props) {
  const trpc = useTRPC();
  const withdrawal = useAction(trpc.invitations.withdraw.mutationOptions(), {
    done: "Invitation withdrawn",
    refresh: [trpc.invitations.list.queryKey()],
    onDone: onClose,
  });
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={`Withdraw the invitation for ${invitation.email}?`}
      confirmLabel="Withdraw"
      isBusy={withdrawal.isBusy}
      fault={withdrawal.fault}
      onConfirm={() => withdrawal.run({ team: teamId, id: invitation.id })}
    >
      <p>The link becomes invalid. Its page shows that the invitation was withdrawn.</p>
    </Confirm>
  );
}
