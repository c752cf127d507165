"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../../_ui/dialog/dialog";
import { ActionForm } from "../../../_ui/form/action-form";
import { Button } from "../../../_ui/form/button";
import { TextField } from "../../../_ui/form/form";
import { linkStyle } from "../../../_ui/styles";
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
  const action = useAction(trpc.templates.sendTest.mutationOptions());
  const { result } = action;
  const variables = effectiveVariables(fields);
  const values = valuesOf(variables, samples);
  const missing = variables.filter(({ key, isRequired }) => isRequired && !(key in values));

  const send = async ({ to, from }: Fields) => {
    if (isDirty && (await template.save()) === null) return onClose();
    action.run({ team: teamId, id, to: to.trim(), from: from.trim() || null, values });
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
            <Button tone="primary" onClick={onClose}>
              Done
            </Button>
          </DialogActions>
        </>
      ) : (
        <ActionForm
          onSubmit={handleSubmit(send)}
          action={{ ...action, isBusy: action.isBusy || template.isSaving }}
          onCancel={onClose}
          submitLabel={isDirty ? "Save and send" : "Send test"}
          disabled={missing.length > 0}
        >
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
        </ActionForm>
      )}
    </Dialog>
  );
}
