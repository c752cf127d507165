"use client";

import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { RadioCards, SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useMay } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { InvitationLink } from "./invitation-link";
import { type Role, roleOptions } from "./roles";

type Props = { teamId: string; open: boolean; onOpenChange: (open: boolean) => void };
type Fields = { email: string; role: Role };

/** Invites somebody: first whom and as what, then the link, this once. */
export function Invite({ teamId, open, onOpenChange }: Props) {
  const trpc = useTRPC();
  const may = useMay();
  const { register, handleSubmit, formState, reset } = useForm<Fields>({
    defaultValues: { email: "", role: "member" },
  });
  const invitation = useAct(trpc.invitations.create.mutationOptions({ gcTime: 0 }), {
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
      <Dialog open={open} onOpenChange={close} title={`Invitation for ${result.email}`} isKept>
        <InvitationLink invited={result} onStored={close} />
      </Dialog>
    );
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title="Invite somebody"
      description="They join by a link that is good once, for seven days, and for their address alone."
    >
      <form
        noValidate
        onSubmit={handleSubmit((fields) => invitation.act({ team: teamId, ...fields }))}
        className="flex flex-col gap-5"
      >
        <TextField
          label="Email address"
          type="email"
          autoComplete="off"
          placeholder="ann@example.com"
          error={formState.errors.email}
          {...register("email", {
            validate: (text) => /^\s*[^\s@]+@[^\s@]+\s*$/.test(text) || "Give one email address.",
          })}
        />
        <RadioCards label="Role" options={roleOptions(may("owners:write"))} {...register("role")} />
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
