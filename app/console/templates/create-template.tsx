"use client";

import { FormDialog } from "../_ui/dialog/form-dialog";
import { RadioCards } from "../_ui/form/form";
import { useFields } from "../_ui/form/use-fields";
import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";
import { ALIAS_RULE, aliasOf, samplesOf } from "./[id]/fields";
import { storeSamples } from "./[id]/state/stored";
import { NAME_RULE, NameFields } from "./name-fields";
import { STARTERS } from "./starters/starters";

type Fields = { name: string; alias: string; starter: string };

/** Creates a draft with a name, an alias and a starter, then opens the editor. */
export function CreateTemplate({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { field, handleSubmit, setValue, watch, formState } = useFields<Fields>({
    defaultValues: { name: "", alias: "", starter: STARTERS[0].value },
  });
  const starter = STARTERS.find(({ value }) => value === watch("starter")) ?? STARTERS[0];
  const action = useAction(trpc.templates.create.mutationOptions(), {
    refresh: [trpc.templates.list.queryKey()],
    onDone: ({ id }) => storeSamples(id, samplesOf(starter.samples)),
    goTo: ({ id }) => hrefOf(`/console/templates/${id}`),
  });
  const create = ({ name, alias }: Fields) => {
    const { subject, html, text } = starter;
    action.run({
      team: teamId,
      name: name.trim(),
      alias: alias.trim() || null,
      subject: subject || null,
      html,
      text,
    });
  };

  return (
    <FormDialog
      onClose={onClose}
      title="Create template"
      description="The template starts as a draft. Publish it before you send it."
      onSubmit={handleSubmit(create)}
      action={action}
      submitLabel="Create and edit"
    >
      <NameFields
        name={field("name", {
          ...NAME_RULE,
          // The alias is derived from the name until the user edits it.
          onChange: ({ target }) => {
            if (!formState.dirtyFields.alias) setValue("alias", aliasOf(target.value));
          },
        })}
        alias={field("alias", { pattern: ALIAS_RULE })}
      />
      <RadioCards label="Start from" options={STARTERS} value={starter.value} {...field("starter")} />
    </FormDialog>
  );
}
