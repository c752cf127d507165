"use client";

import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { nameRules } from "./name-rules";

/** Makes a team and goes there. */
export function NewTeam({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState, reset } = useForm({ defaultValues: { name: "" } });
  const founding = useAct(trpc.team.create.mutationOptions(), {
    // Loaded anew: the frame of the page knows the reader's teams.
    onDone: ({ id }) => window.location.assign(`/console?team=${encodeURIComponent(id)}`),
  });
  const close = () => {
    onOpenChange(false);
    founding.reset();
    reset();
  };
  const { fault } = founding;
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title="Create a team"
      description="You will be its owner. Invite others under Members."
    >
      <form noValidate onSubmit={handleSubmit(founding.act)} className="flex flex-col gap-5">
        <TextField
          label="Team name"
          error={formState.errors.name}
          autoComplete="off"
          {...register("name", nameRules)}
        />
        {fault ? <FormFault fault={fault} /> : null}
        <DialogActions>
          <button type="button" onClick={close} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton isBusy={founding.isBusy || founding.result !== undefined}>Create team</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}
