"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../../_ui/dialog/dialog";
import { SubmitButton, TextField } from "../../../_ui/form/form";
import { FormFault } from "../../../_ui/form/form-fault";
import { buttonStyle, linkStyle } from "../../../_ui/styles";
import { useConsoleHref } from "../../../_ui/team";
import { useTRPC } from "../../../_ui/trpc";
import { useAction } from "../../../_ui/use-action";
import { effectiveVariables, valuesOf } from "../fields";
import type { DialogProps } from "../use-template";

type Fields = { to: string; from: string };

/** Sends the content of the editor to one address as a regular email. Unsaved changes are saved first. */
export function TestDialog({ teamId, id, template, samples, ownAddress, onClose }: DialogProps) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { fields, isDirty } = template;
  const domains = useQuery(trpc.domains.names.queryOptions({ team: teamId }));
  const verified = (domains.data ?? []).filter(({ isVerified }) => isVerified);
  const { register, handleSubmit, formState } = useForm<Fields>({
    defaultValues: { to: ownAddress, from: fields.from },
  });
  const { run, isBusy, fault, result } = useAction(trpc.templates.sendTest.mutationOptions());
  const variables = effectiveVariables(fields);
  const values = valuesOf(variables, samples);
  const missing = variables.filter(({ key, isRequired }) => isRequired && !(key in values));

  const send = async ({ to, from }: Fields) => {
    if (isDirty && (await template.save()) === null) return onClose();
    run({ team: teamId, id, to: to.trim(), from: from.trim() || null, values });
  };

  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Send test email"
      description="The test is sent like any other email, with your sample values, and appears in your email list."
    >
      {result ? (
        <>
          <p className="rounded-lg bg-good-tint px-3.5 py-2.5 text-good leading-6" role="status">
            Accepted.{" "}
            <Link href={hrefOf(`/console/emails/${result.id}`)} className={`${linkStyle} text-good`}>
              View email
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
            {...register("to", { required: "Enter an email address." })}
          />
          <TextField
            label="From"
            placeholder="Name <hello@example.com>"
            autoComplete="off"
            spellCheck={false}
            error={formState.errors.from}
            hint={
              verified.length > 0
                ? `Verified domains: ${verified.map(({ name }) => name).join(", ")}. Email from backstamp.test never leaves this installation.`
                : "Use a verified domain of the team."
            }
            {...register("from", { required: "Enter a sender. The template has none." })}
          />
          {missing.length > 0 ? (
            <p className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
              {missing.map(({ key }) => key).join(", ")} {missing.length === 1 ? "has" : "have"} no sample
              value. Enter {missing.length === 1 ? "it" : "them"} below the editor first.
            </p>
          ) : null}
          <FormFault fault={fault} />
          <DialogActions>
            <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
              Cancel
            </button>
            <SubmitButton isBusy={isBusy || template.isSaving} disabled={missing.length > 0}>
              {isDirty ? "Save and send" : "Send test"}
            </SubmitButton>
          </DialogActions>
        </form>
      )}
    </Dialog>
  );
}
