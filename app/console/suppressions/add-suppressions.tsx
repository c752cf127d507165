"use client";

import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../_ui/dialog";
import { SubmitButton, TextAreaField } from "../_ui/form";
import { FormFault } from "../_ui/form-fault";
import { buttonStyle } from "../_ui/styles";
import { useTRPC } from "../_ui/trpc";
import { useAct } from "../_ui/use-act";
import { sayAdded } from "./outcome";

type Fields = { text: string };
const charsMax = 50_000;

/** Puts one address on the list, or as many as somebody pastes. */
export function AddSuppressions({ teamId, onClose }: { teamId: string; onClose: () => void }) {
  const trpc = useTRPC();
  const { register, handleSubmit, setValue, formState } = useForm<Fields>({ defaultValues: { text: "" } });
  const { act, isBusy, fault, result } = useAct(trpc.suppressions.add.mutationOptions(), {
    done: sayAdded,
    refresh: [trpc.suppressions.list.queryKey()],
    onDone: ({ refused }) => {
      if (refused.length === 0) onClose();
      // What is left to mend, and nothing that is done.
      else setValue("text", refused.map(({ text }) => text).join("\n"));
    },
  });
  const refused = result?.refused ?? [];
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Suppress addresses"
      description="From now on no mail of this team goes to them, whichever key sends it. Mail to them is accepted and set aside."
    >
      <form
        onSubmit={handleSubmit(({ text }) => act({ team: teamId, text }))}
        className="flex flex-col gap-5"
        noValidate
      >
        <TextAreaField
          label="Addresses"
          hint="One a line, or with commas between them. Many thousands are better imported as a CSV file."
          placeholder={"ann@example.com\nben@example.net"}
          rows={6}
          isMono
          spellCheck={false}
          autoComplete="off"
          maxLength={charsMax}
          error={formState.errors.text}
          {...register("text", { validate: (text) => text.trim() !== "" || "Give at least one address." })}
        />
        {refused.length > 0 ? (
          <section
            aria-label="Not added"
            className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6"
          >
            <p className="font-medium">These are no addresses:</p>
            <ul className="max-h-40 overflow-y-auto">
              {refused.map(({ text, why }) => (
                <li key={text} className="break-words">
                  <code className="font-mono text-xs">{text}</code>: {why}
                </li>
              ))}
            </ul>
          </section>
        ) : null}
        <FormFault fault={fault} />
        <DialogActions>
          <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
            {refused.length > 0 ? "Close" : "Cancel"}
          </button>
          <SubmitButton isBusy={isBusy}>Suppress</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}
