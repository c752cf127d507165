"use client";

import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog/dialog";
import { RadioCards, SubmitButton, TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useCan } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { InvitationLink } from "./invitation-link";
import { type Role, roleOptions } from "./roles";

type Props = { teamId: string; open: boolean; onOpenChange: (open: boolean) => void };
type Fields = { email: string; role: Role };

/** Invites a person by email address and role, then shows the link once. */
export function Invite({ teamId, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const can = useCan();
  const { register, handleSubmit, formState, reset } = useForm<Fields>({
    defaultValues: { email: "", role: "member" },
  });
  const invitation = useAction(trpc.invitations.create.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.invitations.list.queryKey()],
  });
  const close = () => {
    onOpenChange(false);
    invitation.reset();
    reset();
  };
  const { result, fault } = invitation;
  if (result)
    return (
      <Dialog open={open} onOpenChange={close} title={`Invitation for ${result.email}`} isPersistent>
        <InvitationLink invited={result} onStored={close} />
      </Dialog>
    );
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title="Invite a member"
      description="The invitation link can be used once, within seven days, and only for this email address."
    >
      <form
        noValidate
        onSubmit={handleSubmit((fields) => invitation.run({ team: teamId, ...fields }))}
        className="flex flex-col gap-5"
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
        {fault ? <FormFault fault={fault} /> : null}
        <DialogActions>
          <button type="button" onClick={close} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton isBusy={invitation.isBusy}>Invite</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}
