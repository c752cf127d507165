"use client";

import { useState } from "react";
import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog/dialog";
import { RadioCards, SubmitButton } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { NewSecret } from "../new-secret";
import type { KeyDialogProps } from "./dialog-props";

const OVERLAPS = [
  { value: "3600", label: "1 hour", hint: "For a program that you reconfigure now." },
  { value: "86400", label: "1 day", hint: "Enough for a deployment." },
  { value: "604800", label: "1 week", hint: "The maximum. For programs that other people operate." },
  { value: "0", label: "Expires now", hint: "The old key is rejected immediately. For a leaked key." },
];

/** Replaces a key. Both keys are valid for the chosen time. The new secret is shown once. */
export function RotateKey({ teamId, keyView, publicUrl, open, onOpenChange }: KeyDialogProps) {
  const trpc = useTRPC();
  const { register, handleSubmit } = useForm({ defaultValues: { overlap: "86400" } });
  // The key at the time of the rotation: the page behind refetches it.
  const [use, setUse] = useState({ scopes: keyView.scopes, senderDomain: senderOf(keyView.domains) });
  const rotation = useAction(trpc.keys.rotate.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.keys.get.queryKey(), trpc.keys.list.queryKey()],
  });
  const close = () => {
    onOpenChange(false);
    rotation.reset();
  };
  const rotate = handleSubmit(({ overlap }) => {
    setUse({ scopes: keyView.scopes, senderDomain: senderOf(keyView.domains) });
    rotation.run({ team: teamId, id: keyView.id, overlapSeconds: Number(overlap) });
  });
  const { result, fault } = rotation;

  if (result)
    return (
      <Dialog
        open={open}
        onOpenChange={close}
        title="New key"
        description={
          <>
            The old key expires <When at={result.previousUntil} />.
          </>
        }
        size="wide"
        isPersistent
      >
        <NewSecret token={result.token} publicUrl={publicUrl} use={use} onStored={close} />
      </Dialog>
    );
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title={`Rotate key ${keyView.name}`}
      description="The new key has the same name, permissions, domains and limits."
    >
      <form onSubmit={rotate} className="flex flex-col gap-5">
        <RadioCards label="Validity of the old key" options={OVERLAPS} {...register("overlap")} />
        <FormFault fault={fault} />
        <DialogActions>
          <button type="button" onClick={close} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton isBusy={rotation.isBusy}>Rotate key</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const senderOf = (domains: KeyDialogProps["keyView"]["domains"]): string =>
  domains === "all" ? "backstamp.test" : (domains[0]?.name ?? "backstamp.test");
