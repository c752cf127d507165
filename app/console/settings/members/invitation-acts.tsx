"use client";

import { Confirm } from "../../_ui/confirm";
import { Dialog } from "../../_ui/dialog";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import type { InvitationAct } from "./invitation-columns";
import { InvitationLink } from "./invitation-link";

type Props = { teamId: string; act: InvitationAct; onClose: () => void };

/** What is done about an invitation that waits, asked once. */
export function InvitationActs({ teamId, act, onClose }: Props) {
  return act.kind === "renew" ? (
    <RenewDialog teamId={teamId} act={act} onClose={onClose} />
  ) : (
    <WithdrawDialog teamId={teamId} act={act} onClose={onClose} />
  );
}

function RenewDialog({ teamId, act: { invitation }, onClose }: Props) {
  const trpc = useTRPC();
  const renewal = useAct(trpc.invitations.renew.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.invitations.list.queryKey()],
  });
  if (renewal.result)
    return (
      <Dialog open onOpenChange={onClose} title={`New link for ${invitation.email}`} isKept>
        <InvitationLink invited={renewal.result} onStored={onClose} />
      </Dialog>
    );
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={`Make a new link for ${invitation.email}?`}
      confirmLabel="Make a new link"
      tone="plain"
      isBusy={renewal.isBusy}
      fault={renewal.fault}
      onConfirm={() => renewal.act({ team: teamId, id: invitation.id })}
    >
      <p>It is good for seven days from now. The link before it opens nothing any more.</p>
    </Confirm>
  );
}

function WithdrawDialog({ teamId, act: { invitation }, onClose }: Props) {
  const trpc = useTRPC();
  const withdrawal = useAct(trpc.invitations.withdraw.mutationOptions(), {
    done: "Invitation withdrawn",
    refresh: [trpc.invitations.list.queryKey()],
    onDone: onClose,
  });
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={`Withdraw the invitation of ${invitation.email}?`}
      confirmLabel="Withdraw"
      isBusy={withdrawal.isBusy}
      fault={withdrawal.fault}
      onConfirm={() => withdrawal.act({ team: teamId, id: invitation.id })}
    >
      <p>Its link opens nothing any more, and says so to whoever follows it.</p>
    </Confirm>
  );
}
