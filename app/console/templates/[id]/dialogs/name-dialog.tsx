"use client";

import { useForm } from "react-hook-form";
import { Dialog } from "../../../_ui/dialog/dialog";
import { ActionForm } from "../../../_ui/form/action-form";
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
  const action = useAction(trpc.templates.save.mutationOptions(), {
    done: "Saved",
    onDone: () => {
      void template.reload();
      onClose();
    },
  });
  const isAliasRemoved = latest.alias !== null && watch("alias").trim() !== latest.alias;
  const save = ({ name, alias }: Fields) =>
    action.run({
      team: teamId,
      id: latest.id,
      revision: base.revision,
      change: { name: name.trim(), alias: alias.trim() || null },
    });
  return (
    <Dialog open onOpenChange={onClose} title="Name and alias">
      <ActionForm onSubmit={handleSubmit(save)} action={action} onCancel={onClose} submitLabel="Save">
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
      </ActionForm>
    </Dialog>
  );
}
