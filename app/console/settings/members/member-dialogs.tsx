"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { Confirm } from "../../_ui/dialog/confirm";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { RadioCards } from "../../_ui/form/form";
import { useCan } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { MemberAction } from "./member-columns";
import { roleOf, roleOptions } from "./roles";

type Props = { teamId: string; action: MemberAction; onClose: () => void };

/** The dialog for an action on a member. */
export function MemberDialog(props: Props) {
  const { kind } = props.action;
  if (kind === "role") return <RoleDialog {...props} />;
  return kind === "leave" ? <LeaveDialog {...props} /> : <RemoveDialog {...props} />;
}

function RoleDialog({ teamId, action: { member }, onClose }: Props) {
  const trpc = useTRPC();
  const can = useCan();
  const router = useRouter();
  const [role, setRole] = useState(member.role);
  const change = useAction(trpc.members.changeRole.mutationOptions(), {
    done: `${member.email} now has the role ${role}`,
    refresh: [trpc.members.list.queryKey(), trpc.invitations.list.queryKey()],
    onDone: () => {
      onClose();
      // The role of the user decides which actions the page offers.
      if (member.is_self) router.refresh();
    },
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Role of ${member.name ?? member.email}`}
      description={
        member.is_self
          ? "This is your own role. With a lower role you may be unable to undo the change."
          : "Takes effect immediately."
      }
    >
      <ActionForm
        onSubmit={(event) => {
          event.preventDefault();
          change.run({ team: teamId, userId: member.id, role });
        }}
        action={change}
        submitLabel="Change role"
        disabled={role === member.role}
        onCancel={onClose}
      >
        <RadioCards
          label={<span className="sr-only">Role</span>}
          name="role"
          options={roleOptions(can("owners:write"))}
          value={role}
          onChange={({ target }) => setRole(roleOf(target.value))}
        />
      </ActionForm>
    </Dialog>
  );
}

function RemoveDialog({ teamId, action: { member }, onClose }: Props) {
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

function LeaveDialog({ teamId, onClose }: Props) {
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
