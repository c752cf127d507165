"use client";

import { useRouter } from "next/navigation";
import { useForm } from "react-hook-form";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { useWhyNot } from "../../_ui/no-right";
import { Section } from "../../_ui/section";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { nameRules } from "./name-rules";

/** What the team is called. */
export function NameSection({ teamId, name }: { teamId: string; name: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const whyNot = useWhyNot()("team:write", "change the team");
  const { register, handleSubmit, formState } = useForm({ values: { name } });
  const renaming = useAct(trpc.team.change.mutationOptions(), {
    done: "Team renamed",
    refresh: [trpc.team.settings.queryKey()],
    // The frame of the page shows the name, too.
    onDone: () => router.refresh(),
  });
  const { fault } = renaming;
  return (
    <Section title="Name" note="What its members see in the console, and what an invitation says.">
      <form
        noValidate
        onSubmit={handleSubmit((fields) => renaming.act({ team: teamId, name: fields.name }))}
        className="flex max-w-xl flex-col gap-5 px-5 pb-5"
      >
        <TextField
          label="Team name"
          error={formState.errors.name}
          disabled={whyNot !== undefined}
          {...register("name", nameRules)}
        />
        {fault ? <FormFault fault={fault} /> : null}
        <div>
          <SubmitButton isBusy={renaming.isBusy} disabled={!formState.isDirty} whyNot={whyNot}>
            Save the name
          </SubmitButton>
        </div>
      </form>
    </Section>
  );
}
