"use client";

import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog/dialog";
import { SubmitButton, TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { KeyDialogProps } from "./dialog-props";

/** Renames a key. */
export function RenameKey({ teamId, keyView, open, onOpenChange }: KeyDialogProps) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState } = useForm({ values: { name: keyView.name } });
  const renaming = useAction(trpc.keys.rename.mutationOptions(), {
    done: "Key renamed",
    refresh: [trpc.keys.get.queryKey(), trpc.keys.list.queryKey()],
    onDone: () => onOpenChange(false),
  });
  const rename = handleSubmit(({ name }) => renaming.run({ team: teamId, id: keyView.id, name }));
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title="Rename key">
      <form onSubmit={rename} noValidate className="flex flex-col gap-5">
        <TextField
          label="Name"
          maxLength={50}
          autoComplete="off"
          error={formState.errors.name}
          {...register("name", { validate: (text) => text.trim() !== "" || "Enter a name." })}
        />
        <FormFault fault={renaming.fault} />
        <DialogActions>
          <SubmitButton isBusy={renaming.isBusy}>Rename</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}
