"use client";

import { useQuery } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { faultOf } from "../../_ui/fault";
import { SubmitButton, TextField } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Section } from "../../_ui/page/section";
import { FaultNote } from "../../_ui/text/notes";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

/** The name and the email address of the user. */
export function ProfilePage() {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(trpc.profile.get.queryOptions());
  if (error && !data) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonCard lines={4} />;
  return (
    <Section title="Profile" note="Visible to the members of your teams.">
      <ProfileForm name={data.name ?? ""} email={data.email} />
    </Section>
  );
}

function ProfileForm({ name, email }: { name: string; email: string }) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState } = useForm({ values: { name } });
  const renaming = useAction(trpc.profile.rename.mutationOptions(), {
    done: "Profile saved",
    refresh: [trpc.profile.get.queryKey(), trpc.members.list.queryKey()],
  });
  const { fault } = renaming;
  return (
    <form
      noValidate
      onSubmit={handleSubmit((fields) => renaming.run(fields))}
      className="flex max-w-xl flex-col gap-5 px-5 pb-5"
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
      {fault ? <FormFault fault={fault} /> : null}
      <div>
        <SubmitButton isBusy={renaming.isBusy} disabled={!formState.isDirty}>
          Save
        </SubmitButton>
      </div>
    </form>
  );
}
