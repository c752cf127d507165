"use client";

import { useRouter } from "next/navigation";
import { useForm } from "react-hook-form";
import { ActionForm } from "../../_ui/form/action-form";
import { TextField } from "../../_ui/form/form";
import { useDisabledReason } from "../../_ui/page/permission";
import { Section } from "../../_ui/page/section";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { nameRules } from "./name-rules";

/** Renames the team. */
export function NameSection({ teamId, name }: { teamId: string; name: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const disabledReason = useDisabledReason()("team:write", "change the team");
  const { register, handleSubmit, formState } = useForm({ values: { name } });
  const renaming = useAction(trpc.team.change.mutationOptions(), {
    done: "Team renamed",
    refresh: [trpc.team.settings.queryKey()],
    // The page layout also shows the name.
    onDone: () => router.refresh(),
  });
  return (
    <Section title="Name" note="Shown in the console and in invitations.">
      <ActionForm
        onSubmit={handleSubmit((fields) => renaming.run({ team: teamId, name: fields.name }))}
        action={renaming}
        submitLabel="Save name"
        disabled={!formState.isDirty}
        disabledReason={disabledReason}
      >
        <TextField
          label="Team name"
          error={formState.errors.name}
          disabled={disabledReason !== undefined}
          {...register("name", nameRules)}
        />
      </ActionForm>
    </Section>
  );
}
