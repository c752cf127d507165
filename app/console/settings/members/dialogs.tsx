"use client";

import { MailCheck, MailX } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import type { CreatedInvitationResponse } from "#server/shared/wire/people/invitation";
import { loadPage } from "../../_ui/connection/connection";
import { Confirm } from "../../_ui/dialog/confirm";
import { Dialog } from "../../_ui/dialog/dialog";
import { DoneAction } from "../../_ui/dialog/dialog-actions";
import { FormDialog } from "../../_ui/dialog/form-dialog";
import { SecretText } from "../../_ui/dialog/secret-once";
import { RadioCards, TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { useCan } from "../../_ui/team";
import { Address } from "../../_ui/text/address";
import { Note } from "../../_ui/text/notes";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { InvitationAction, MemberAction } from "./columns";
import { type Role, roleOf, roleOptions } from "./roles";

type Props = { teamId: string; onClose: () => void };
type MemberProps = Props & { action: MemberAction };
type InvitationProps = Props & { action: InvitationAction };

/** The dialog for an action on a member. */
export function MemberDialog(props: MemberProps) {
  const { kind } = props.action;
  if (kind === "role") return <RoleDialog {...props} />;
  return kind === "leave" ? <LeaveDialog {...props} /> : <RemoveDialog {...props} />;
}

function RoleDialog({ teamId, action: { member }, onClose }: MemberProps) {
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
      if (member.isSelf) router.refresh();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={`Role of ${member.name ?? member.email}`}
      description={
        member.isSelf
          ? "This is your own role. With a lower role you may be unable to undo the change."
          : "Takes effect immediately."
      }
      onSubmit={() => change.run({ team: teamId, userId: member.id, role })}
      action={change}
      submitLabel="Change role"
      disabled={role === member.role}
    >
      <RadioCards
        label={<span className="sr-only">Role</span>}
        name="role"
        options={roleOptions(can("owners:write"))}
        value={role}
        onChange={({ target }) => setRole(roleOf(target.value))}
      />
    </FormDialog>
  );
}

function RemoveDialog({ teamId, action: { member }, onClose }: MemberProps) {
  const trpc = useTRPC();
  const removal = useAction(trpc.members.remove.mutationOptions(), {
    done: `${member.email} removed from the team`,
    refresh: [trpc.members.list.queryKey(), trpc.invitations.list.queryKey()],
    onDone: onClose,
  });
  return (
    <Confirm
      onOpenChange={onClose}
      title={`Remove ${member.name ?? member.email}?`}
      confirmLabel="Remove from team"
      action={removal}
      onConfirm={() => removal.run({ team: teamId, userId: member.id })}
    >
      <p>
        <strong className="font-semibold text-ink">
          <Address>{member.email}</Address>
        </strong>{" "}
        loses access to this team immediately. Their pending invitations are withdrawn.
      </p>
      <p>API keys that they created belong to the team and stay active. Revoke the keys that they know.</p>
    </Confirm>
  );
}

function LeaveDialog({ teamId, onClose }: Props) {
  const trpc = useTRPC();
  const leaving = useAction(trpc.members.leave.mutationOptions(), {
    // A full page load removes the data of the team from the browser.
    onDone: () => loadPage("/console"),
  });
  return (
    <Confirm
      onOpenChange={onClose}
      title="Leave this team?"
      confirmLabel="Leave team"
      action={leaving}
      isBusy={leaving.isBusy || leaving.result !== undefined}
      onConfirm={() => leaving.run({ team: teamId })}
    >
      <p>
        You lose access immediately. To rejoin, you need a new invitation. Your pending invitations are
        withdrawn. API keys that you created belong to the team and stay active.
      </p>
    </Confirm>
  );
}

/** Invites a person by email address and role, then shows the link once. */
export function Invite({ teamId, onClose }: Props) {
  const trpc = useTRPC();
  const can = useCan();
  const { field, handleSubmit } = useFields<{ email: string; role: Role }>({
    defaultValues: { email: "", role: "member" },
  });
  const inviting = useAction(trpc.invitations.create.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.invitations.list.queryKey()],
  });
  const { result } = inviting;
  if (result)
    return <InvitationLink title={`Invitation for ${result.email}`} invitation={result} onClose={onClose} />;
  return (
    <FormDialog
      onClose={onClose}
      title="Invite a member"
      description="The invitation link can be used once, within seven days, and only for this email address."
      onSubmit={handleSubmit((fields) => inviting.run({ team: teamId, ...fields }))}
      action={inviting}
      submitLabel="Invite"
    >
      <TextField
        label="Email address"
        type="email"
        autoComplete="off"
        placeholder="ann@example.com"
        {...field("email", {
          validate: (text) =>
            /^\s*[^\s@]+@[^\s@]+\s*$/.test(text) || "Enter one email address, such as ann@example.com.",
        })}
      />
      <RadioCards label="Role" options={roleOptions(can("owners:write"))} {...field("role")} />
    </FormDialog>
  );
}

/** The confirmation dialog for an action on a pending invitation. */
export function InvitationDialog(props: InvitationProps) {
  return props.action.kind === "renew" ? <RenewDialog {...props} /> : <WithdrawDialog {...props} />;
}

function RenewDialog({ teamId, action: { invitation }, onClose }: InvitationProps) {
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
      onOpenChange={onClose}
      title={`Create a new link for ${invitation.email}?`}
      confirmLabel="Create new link"
      tone="plain"
      action={renewal}
      onConfirm={() => renewal.run({ team: teamId, id: invitation.id })}
    >
      <p>The new link is valid for seven days. The previous link becomes invalid.</p>
    </Confirm>
  );
}

function WithdrawDialog({ teamId, action: { invitation }, onClose }: InvitationProps) {
  const trpc = useTRPC();
  const withdrawal = useAction(trpc.invitations.withdraw.mutationOptions(), {
    done: "Invitation withdrawn",
    refresh: [trpc.invitations.list.queryKey()],
    onDone: onClose,
  });
  return (
    <Confirm
      onOpenChange={onClose}
      title={`Withdraw the invitation for ${invitation.email}?`}
      confirmLabel="Withdraw"
      action={withdrawal}
      onConfirm={() => withdrawal.run({ team: teamId, id: invitation.id })}
    >
      <p>The link becomes invalid. Its page shows that the invitation was withdrawn.</p>
    </Confirm>
  );
}

type LinkProps = { title: string; invitation: CreatedInvitationResponse; onClose: () => void };

/** The link of an invitation, shown once, and whether it was also sent by email. */
function InvitationLink({ title, invitation, onClose }: LinkProps) {
  const { email, link, is_mailed, mail_fault, expires_at } = invitation;
  return (
    <Dialog onOpenChange={onClose} title={title} isPersistent>
      <Note tone={is_mailed ? "good" : "warn"} Icon={is_mailed ? MailCheck : MailX}>
        {is_mailed
          ? `The invitation was emailed to ${email}. You can also share this link. It is shown only once.`
          : `This installation cannot send email. ${mail_fault} Send the link to ${email} yourself. It is shown only once.`}
      </Note>
      <SecretText text={link} label="Invitation link" />
      <p className="text-soft leading-6">
        It can be used once, by <Address>{email}</Address>, and expires <When isDue at={expires_at} />.
      </p>
      <DoneAction onClose={onClose} />
    </Dialog>
  );
}
