"use client";

import { useRouter } from "next/navigation";
import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../_ui/dialog";
import { RadioCards, SubmitButton, TextField } from "../_ui/form";
import { FormFault } from "../_ui/form-fault";
import { buttonStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { useAct } from "../_ui/use-act";
import { ALIAS_RULE, aliasOf } from "./alias";
import { STARTERS } from "./starters";

type Fields = { name: string; alias: string; starter: string };

/** Asks what a new template is called and what it begins with, and leads into its editor. It is a draft at first. */
export function CreateTemplate({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const { register, handleSubmit, setValue, watch, formState } = useForm<Fields>({
    defaultValues: { name: "", alias: "", starter: "letter" },
  });
  const { act, isBusy, fault } = useAct(trpc.templates.create.mutationOptions(), {
    refresh: [trpc.templates.list.queryKey()],
    onDone: ({ id }) => router.push(hrefOf(`/console/templates/${id}`)),
  });
  const create = ({ name, alias, starter }: Fields) => {
    const { subject, html } = STARTERS.find(({ value }) => value === starter) ?? STARTERS[0] ?? EMPTY;
    act({ team: teamId, name: name.trim(), alias: alias.trim() || null, subject: subject || null, html });
  };

  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Create a template"
      description="It begins as a draft: nothing can be sent with it before you publish it."
    >
      <form onSubmit={handleSubmit(create)} className="flex flex-col gap-5" noValidate>
        <TextField
          label="Name"
          placeholder="Welcome mail"
          autoComplete="off"
          maxLength={200}
          error={formState.errors.name}
          {...register("name", {
            validate: (text) => text.trim() !== "" || "Give the template a name.",
            // The alias follows the name until somebody writes one.
            onChange: ({ target }) => {
              if (!formState.dirtyFields.alias) setValue("alias", aliasOf(target.value));
            },
          })}
        />
        <TextField
          label="Alias"
          hint="What your programs name it by, in place of its id. It may stay empty."
          placeholder="welcome-mail"
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          isMono
          maxLength={64}
          error={formState.errors.alias}
          {...register("alias", { pattern: ALIAS_RULE })}
        />
        <RadioCards label="Begin with" options={STARTERS} value={watch("starter")} {...register("starter")} />
        <FormFault fault={fault} />
        <DialogActions>
          <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton isBusy={isBusy}>Create and edit</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const EMPTY = { subject: "", html: "<p></p>" };
