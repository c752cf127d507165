"use client";

import { useQuery } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { ActionForm } from "../../_ui/form/action-form";
import { TextField } from "../../_ui/form/form";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { Section } from "../../_ui/page/section";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

/** The name and the email address of the user. */
export function ProfilePage() {
  const trpc = useTRPC();
  const profile = useQuery(trpc.profile.get.queryOptions());
  return (
    <Fetched by={profile} loading={<SkeletonCard lines={4} />}>
      {({ name, email }) => (
        <Section title="Profile" note="Visible to the members of your teams.">
          <ProfileForm name={name ?? ""} email={email} />
        </Section>
      )}
    </Fetched>
  );
}

function ProfileForm({ name, email }: { name: string; email: string }) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState } = useForm({ values: { name } });
  const renaming = useAction(trpc.profile.rename.mutationOptions(), {
    done: "Profile saved",
    refresh: [trpc.profile.get.queryKey(), trpc.members.list.queryKey()],
  });
  return (
    <ActionForm
      onSubmit={handleSubmit((fields) => renaming.run(fields))}
      action={renaming}
      submitLabel="Save changes"
      disabled={!formState.isDirty}
    >
      <TextField
        label="Name"
        hint="Shown next to your email address. Optional."
        autoComplete="name"
        error={formState.errors.name}
        {...register("name", {
          maxLength: { value: 100, message: "Enter a name of at most 100 characters." },
        })}
      />
      <TextField
        label="Email address"
        hint="Used to sign in and for invitations. It cannot be changed."
        type="email"
        value={email}
        readOnly
      />
    </ActionForm>
  );
}
