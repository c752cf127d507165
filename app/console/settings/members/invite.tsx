"use client";

import { useForm } from "react-hook-form";
import { Dialog } from "../../_ui/dialog/dialog";
import { ActionForm } from "../../_ui/form/action-form";
import { RadioCards, TextField } from "../../_ui/form/form";
import { useCan } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { InvitationLink } from "./invitation-link";
import { type Role, roleOptions } from "./roles";

type Fields = { email: string; role: Role };

/** Invites a person by email address and role, then shows the link once. */
export function Invite({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const can = useCan();
  const { register, handleSubmit, formState } = useForm<Fields>({
    defaultValues: { email: "", role: "member" },
  });
  const inviting = useAction(trpc.invitations.create.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.invitations.list.queryKey()],
  });
  const { result } = inviting;
  if (result)
    return <InvitationLink title={`Invitation for ${result.email}`} invitation={result} onClose={onClose} />;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Invite a member"
      description="The invitation link can be used once, within seven days, and only for this email address."
    >
      <ActionForm
        onSubmit={handleSubmit((fields) => inviting.run({ team: teamId, ...fields }))}
        action={inviting}
        submitLabel="Invite"
        onCancel={onClose}
      >
        <TextField
          label="Email address"
          type="email"
          autoComplete="off"
          placeholder="ann@example.com"
          error={formState.errors.email}
          {...register("email", {
            validate: (text) =>
              /^\s*[^\s@]+@[^\s@]+\s*$/.test(text) || "Enter one email address, such as ann@example.com.",
          })}
        />
        <RadioCards label="Role" options={roleOptions(can("owners:write"))} {...register("role")} />
      </ActionForm>
    </Dialog>
  );
}
