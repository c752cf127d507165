"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle, linkStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { settleVariables } from "./fields";
import type { Samples } from "./stored";
import { valuesOf } from "./use-samples";
import type { OpenTemplate } from "./use-template";

type Props = {
  teamId: string;
  id: string;
  template: OpenTemplate;
  samples: Samples;
  /** The reader's own address. */
  ownAddress: string;
  onClose: () => void;
};

type Fields = { to: string; from: string };

/** Sends what the editor shows to one address, as a mail like all others. What is not saved is saved first. */
export function TestDialog({ teamId, id, template, samples, ownAddress, onClose }: Props) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { fields, isDirty } = template;
  const domains = useQuery(trpc.domains.names.queryOptions({ team: teamId }));
  const usable = (domains.data ?? []).filter(({ isVerified }) => isVerified);
  const { register, handleSubmit, formState } = useForm<Fields>({
    defaultValues: { to: ownAddress, from: fields?.from ?? "" },
  });
  const { act, isBusy, fault, result } = useAct(trpc.templates.sendTest.mutationOptions());
  if (!fields) return null;
  const variables = settleVariables(fields);
  const values = valuesOf(variables, samples);
  const missing = variables.filter(({ key, isRequired }) => isRequired && !(key in values));

  const send = async ({ to, from }: Fields) => {
    if (isDirty && (await template.save()) === null) return onClose();
    act({ team: teamId, id, to: to.trim(), from: from.trim() || null, values });
  };

  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Send a test"
      description="It goes the way of every mail, with your sample values, and stands among your emails."
    >
      {result ? (
        <>
          <p className="rounded-lg bg-good-tint px-3.5 py-2.5 text-good leading-6" role="status">
            Accepted.{" "}
            <Link href={hrefOf(`/console/emails/${result.id}`)} className={`${linkStyle} text-good`}>
              See what becomes of it
            </Link>
          </p>
          <DialogActions>
            <button type="button" onClick={onClose} className={`${buttonStyle.primary} h-10`}>
              Done
            </button>
          </DialogActions>
        </>
      ) : (
        <form onSubmit={handleSubmit(send)} className="flex flex-col gap-5" noValidate>
          <TextField
            label="To"
            inputMode="email"
            autoComplete="email"
            error={formState.errors.to}
            {...register("to", { required: "Give an address." })}
          />
          <TextField
            label="From"
            placeholder="Name <hello@example.com>"
            autoComplete="off"
            spellCheck={false}
            error={formState.errors.from}
            hint={
              usable.length > 0
                ? `From a verified domain: ${usable.map(({ name }) => name).join(", ")}. What is sent from posthorn.test stays inside.`
                : "From a verified domain of the team."
            }
            {...register("from", { required: "Give a sender: the template has none." })}
          />
          {missing.length > 0 ? (
            <p className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
              {missing.map(({ key }) => key).join(", ")} {missing.length === 1 ? "has" : "have"} no sample
              value. Give {missing.length === 1 ? "one" : "them"} below the editor first.
            </p>
          ) : null}
          <FormFault fault={fault} />
          <DialogActions>
            <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
              Cancel
            </button>
            <SubmitButton isBusy={isBusy || template.isSaving} disabled={missing.length > 0}>
              {isDirty ? "Save and send" : "Send the test"}
            </SubmitButton>
          </DialogActions>
        </form>
      )}
    </Dialog>
  );
}
