"use client";

import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog/dialog";
import { SubmitButton, TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { nameRules } from "./name-rules";

/** Creates a team and opens it. */
export function NewTeam({ open, onOpenChange }: { open: boolean; onOpenChange: (open: boolean) => void }) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState, reset } = useForm({ defaultValues: { name: "" } });
  const creation = useAction(trpc.team.create.mutationOptions(), {
    // A full page load updates the team list in the page layout.
    onDone: ({ id }) => window.location.assign(`/console?team=${encodeURIComponent(id)}`),
  });
  const close = () => {
    onOpenChange(false);
    creation.reset();
    reset();
  };
  const { fault } = creation;
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title="Create a team"
      description="You become its owner. Invite members under Settings, Members."
    >
      <form noValidate onSubmit={handleSubmit(creation.run)} className="flex flex-col gap-5">
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
          <SubmitButton isBusy={creation.isBusy || creation.result !== undefined}>Create team</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}
