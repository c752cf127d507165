"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import type { MemberRow } from "#server/trpc/members/views";
import { Confirm } from "../../_ui/dialog/confirm";
import { Dialog } from "../../_ui/dialog/dialog";
import { RadioCards } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useCan } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { MemberAction } from "./member-columns";
import { ROLE_LABELS, roleOf, roleOptions } from "./roles";

type Props = { teamId: string; action: MemberAction; onClose: () => void };

/** The dialog for an action on a member. */
export function MemberDialog({ teamId, action: { kind, member }, onClose }: Props) {
  if (kind === "role") return <RoleDialog teamId={teamId} member={member} onClose={onClose} />;
  if (kind === "leave") return <LeaveDialog teamId={teamId} onClose={onClose} />;
  return <RemoveDialog teamId={teamId} member={member} onClose={onClose} />;
}

type MemberDialogProps = { teamId: string; member: MemberRow; onClose: () => void };

function RoleDialog({ teamId, member, onClose }: MemberDialogProps) {
  const trpc = useTRPC();
  const can = useCan();
  const router = useRouter();
  const [role, setRole] = useState(member.role);
  const change = useAction(trpc.members.changeRole.mutationOptions(), {
    done: `${member.email} now has the role ${ROLE_LABELS[role].label.toLowerCase()}`,
    refresh: [trpc.members.list.queryKey(), trpc.invitations.list.queryKey()],
    onDone: () => {
      onClose();
      // The role of the user decides which actions the page offers.
      if (member.isSelf) router.refresh();
    },
  });
  const { fault } = change;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Role of ${member.name ?? member.email}`}
      description={
        member.isSelf
          ? "This is your own role. With a lower role you may be unable to undo the change."
          : "Takes effect immediately."
      }
      footer={
        <>
          <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <button
            type="button"
            disabled={role === member.role || change.isBusy}
            onClick={() => change.run({ team: teamId, userId: member.id, role })}
            className={`${buttonStyle.primary} h-10`}
          >
            Change role
          </button>
        </>
      }
    >
      <RadioCards
        label={<span className="sr-only">Role</span>}
        name="role"
        options={roleOptions(can("owners:write"))}
        value={role}
        onChange={({ target }) => setRole(roleOf(target.value))}
      />
      {fault ? <FormFault fault={fault} /> : null}
    </Dialog>
  );
}

function RemoveDialog({ teamId, member, onClose }: MemberDialogProps) {
  const trpc = useTRPC();
  const removal = useAction(trpc.members.remove.mutationOptions(), {
    done: `${member.email} removed from the team`,
    refresh: [trpc.members.list.queryKey(), trpc.invitations.list.queryKey()],
    onDone: onClose,
  });
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={`Remove ${member.name ?? member.email}?`}
      confirmLabel="Remove from team"
      isBusy={removal.isBusy}
      fault={removal.fault}
      onConfirm={() => removal.run({ team: teamId, userId: member.id })}
    >
      <p>
        <strong className="font-semibold text-ink">{member.email}</strong> loses access to this team
        immediately. Their pending invitations are withdrawn.
      </p>
      <p>API keys that they created belong to the team and stay active. Revoke the keys that they know.</p>
    </Confirm>
  );
}

function LeaveDialog({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const leaving = useAction(trpc.members.leave.mutationOptions(), {
    // A full page load removes the data of the team from the browser.
    onDone: () => window.location.assign("/console"),
  });
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title="Leave this team?"
      confirmLabel="Leave team"
      isBusy={leaving.isBusy || leaving.result !== undefined}
      fault={leaving.fault}
      onConfirm={() => leaving.run({ team: teamId })}
    >
      <p>
        You lose access immediately. To rejoin, you need a new invitation. Your pending invitations are
        withdrawn. API keys that you created belong to the team and stay active.
      </p>
    </Confirm>
  );
}
