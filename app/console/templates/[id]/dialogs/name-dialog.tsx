"use client";

import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../../_ui/dialog/dialog";
import { SubmitButton } from "../../../_ui/form/form";
import { FormFault } from "../../../_ui/form/form-fault";
import { buttonStyle } from "../../../_ui/styles";
import { useTRPC } from "../../../_ui/trpc";
import { useAction } from "../../../_ui/use-action";
import { ALIAS_RULE } from "../../alias";
import { NAME_RULE, NameFields } from "../../name-fields";
import type { DialogProps } from "../use-template";

type Fields = { name: string; alias: string };

/** Changes the name and alias of a template. Both take effect immediately: they are not part of a version. */
export function NameDialog({ teamId, template, onClose }: DialogProps) {
  const trpc = useTRPC();
  const { latest, base } = template;
  const { register, handleSubmit, watch, formState } = useForm<Fields>({
    defaultValues: { name: latest.name, alias: latest.alias ?? "" },
  });
  const { run, isBusy, fault } = useAction(trpc.templates.save.mutationOptions(), {
    done: "Saved",
    onDone: () => {
      void template.reload();
      onClose();
    },
  });
  const isAliasRemoved = latest.alias !== null && watch("alias").trim() !== latest.alias;
  const save = ({ name, alias }: Fields) =>
    run({
      team: teamId,
      id: latest.id,
      revision: base.revision,
      change: { name: name.trim(), alias: alias.trim() || null },
    });
  return (
    <Dialog open onOpenChange={onClose} title="Name and alias">
      <form onSubmit={handleSubmit(save)} className="flex flex-col gap-5" noValidate>
        <NameFields
          name={register("name", NAME_RULE)}
          alias={register("alias", { pattern: ALIAS_RULE })}
          errors={formState.errors}
        />
        {isAliasRemoved ? (
          <p className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
            API calls that use the alias{" "}
            <code className="wrap-anywhere font-mono text-xs">{latest.alias}</code> are rejected with 404 as
            soon as you save.
          </p>
        ) : null}
        <FormFault fault={fault} />
        <DialogActions>
          <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton isBusy={isBusy}>Save</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}
