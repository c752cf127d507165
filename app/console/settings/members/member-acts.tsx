"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import type { MemberRow } from "#server/trpc/member-views";
import { Confirm } from "../../_ui/confirm";
import { Dialog } from "../../_ui/dialog";
import { RadioCards } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useMay } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import type { MemberAct } from "./member-columns";
import { ROLE_WORDS, roleOf, roleOptions } from "./roles";

type Props = { teamId: string; act: MemberAct; onClose: () => void };

/** What is done about one member, asked once. */
export function MemberActs({ teamId, act: { kind, member }, onClose }: Props) {
  if (kind === "role") return <RoleDialog teamId={teamId} member={member} onClose={onClose} />;
  if (kind === "leave") return <LeaveDialog teamId={teamId} onClose={onClose} />;
  return <RemoveDialog teamId={teamId} member={member} onClose={onClose} />;
}

type OfMember = { teamId: string; member: MemberRow; onClose: () => void };

function RoleDialog({ teamId, member, onClose }: OfMember) {
  const trpc = useTRPC();
  const may = useMay();
  const router = useRouter();
  const [role, setRole] = useState(member.role);
  const change = useAct(trpc.members.changeRole.mutationOptions(), {
    done: `${member.email} is ${ROLE_WORDS[role].label.toLowerCase()} now`,
    refresh: [trpc.members.list.queryKey(), trpc.invitations.list.queryKey()],
    onDone: () => {
      onClose();
      // One's own role decides what the whole page offers.
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
          ? "This is you: a lower role may not be able to take this back."
          : "Felt at their next click."
      }
      footer={
        <>
          <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <button
            type="button"
            disabled={role === member.role || change.isBusy}
            onClick={() => change.act({ team: teamId, userId: member.id, role })}
            className={`${buttonStyle.primary} h-10`}
          >
            Change the role
          </button>
        </>
      }
    >
      <RadioCards
        label={<span className="sr-only">Role</span>}
        name="role"
        options={roleOptions(may("owners:write"))}
        value={role}
        onChange={({ target }) => setRole(roleOf(target.value))}
      />
      {fault ? <FormFault fault={fault} /> : null}
    </Dialog>
  );
}

function RemoveDialog({ teamId, member, onClose }: OfMember) {
  const trpc = useTRPC();
  const removal = useAct(trpc.members.remove.mutationOptions(), {
    done: `${member.email} is out of the team`,
    refresh: [trpc.members.list.queryKey(), trpc.invitations.list.queryKey()],
    onDone: onClose,
  });
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title={`Remove ${member.name ?? member.email}?`}
      confirmLabel="Remove from the team"
      isBusy={removal.isBusy}
      fault={removal.fault}
      onConfirm={() => removal.act({ team: teamId, userId: member.id })}
    >
      <p>
        <strong className="font-semibold text-ink">{member.email}</strong> sees nothing of this team from
        their next click on. Invitations that they sent and nobody has accepted are withdrawn.
      </p>
      <p>API keys that they made belong to the team and go on working. Revoke those that they know.</p>
    </Confirm>
  );
}

function LeaveDialog({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const leaving = useAct(trpc.members.leave.mutationOptions(), {
    // Loaded anew: nothing of the team stays in this browser.
    onDone: () => window.location.assign("/console"),
  });
  return (
    <Confirm
      open
      onOpenChange={onClose}
      title="Leave this team?"
      confirmLabel="Leave the team"
      isBusy={leaving.isBusy || leaving.result !== undefined}
      fault={leaving.fault}
      onConfirm={() => leaving.act({ team: teamId })}
    >
      <p>
        You see nothing of it any more, and only an invitation brings you back. Invitations that you sent and
        nobody has accepted are withdrawn; API keys that you made belong to the team and go on working.
      </p>
    </Confirm>
  );
}
