"use client";

import { useState } from "react";
import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { RadioCards, SubmitButton } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { When } from "../../_ui/when";
import { NewSecret } from "../new-secret";
import type { KeyDialogProps } from "./dialog-props";

const OVERLAPS = [
  { value: "3600", label: "An hour", hint: "For a program whose settings you change right now." },
  { value: "86400", label: "A day", hint: "Enough for a deployment." },
  { value: "604800", label: "A week", hint: "The longest: for programs that others look after." },
  { value: "0", label: "Not at all", hint: "The old key is refused within a second: for one that leaked." },
];

/** Replaces a key: both work for the time that is chosen, and the new secret is shown once. */
export function RotateKey({ teamId, keyView, publicUrl, open, onOpenChange }: KeyDialogProps) {
  const trpc = useTRPC();
  const { register, handleSubmit } = useForm({ defaultValues: { overlap: "86400" } });
  // What the key was when it was rotated: the page behind is already asked anew.
  const [use, setUse] = useState({ scopes: keyView.scopes, senderDomain: senderOf(keyView.domains) });
  const rotation = useAct(trpc.keys.rotate.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.keys.get.queryKey(), trpc.keys.list.queryKey()],
  });
  const close = () => {
    onOpenChange(false);
    rotation.reset();
  };
  const rotate = handleSubmit(({ overlap }) => {
    setUse({ scopes: keyView.scopes, senderDomain: senderOf(keyView.domains) });
    rotation.act({ team: teamId, id: keyView.id, overlapSeconds: Number(overlap) });
  });
  const { result, fault } = rotation;

  if (result)
    return (
      <Dialog
        open={open}
        onOpenChange={close}
        title="The new key"
        description={
          <>
            The old one works until it ends: <When at={result.previousUntil} />.
          </>
        }
        size="wide"
        isKept
      >
        <NewSecret token={result.token} publicUrl={publicUrl} use={use} onStored={close} />
      </Dialog>
    );
  return (
    <Dialog
      open={open}
      onOpenChange={close}
      title={`Rotate the key ${keyView.name}`}
      description="A new key with the same name, permissions, domains and limits takes its place."
    >
      <form onSubmit={rotate} className="flex flex-col gap-5">
        <RadioCards
          label="How long does the old key work beside it?"
          options={OVERLAPS}
          {...register("overlap")}
        />
        <FormFault fault={fault} />
        <DialogActions>
          <button type="button" onClick={close} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton isBusy={rotation.isBusy}>Rotate the key</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const senderOf = (domains: KeyDialogProps["keyView"]["domains"]): string =>
  domains === "all" ? "posthorn.test" : (domains[0]?.name ?? "posthorn.test");
