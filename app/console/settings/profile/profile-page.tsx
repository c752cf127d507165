"use client";

import { useQuery } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { faultOf } from "../../_ui/fault";
import { SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { FaultNote } from "../../_ui/notes";
import { Section } from "../../_ui/section";
import { SkeletonCard } from "../../_ui/skeleton";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";

/** The reader's own name and address. */
export function ProfilePage() {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(trpc.profile.get.queryOptions());
  if (error && !data) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonCard lines={4} />;
  return (
    <Section title="Profile" note="How the members of your teams see you.">
      <ProfileForm name={data.name ?? ""} email={data.email} />
    </Section>
  );
}

function ProfileForm({ name, email }: { name: string; email: string }) {
  const trpc = useTRPC();
  const { register, handleSubmit, formState } = useForm({ values: { name } });
  const renaming = useAct(trpc.profile.rename.mutationOptions(), {
    done: "Profile saved",
    refresh: [trpc.profile.get.queryKey(), trpc.members.list.queryKey()],
  });
  const { fault } = renaming;
  return (
    <form
      noValidate
      onSubmit={handleSubmit((fields) => renaming.act(fields))}
      className="flex max-w-xl flex-col gap-5 px-5 pb-5"
    >
      <TextField
        label="Name"
        hint="Shown beside your address. It may stay empty."
        autoComplete="name"
        error={formState.errors.name}
        {...register("name", {
          maxLength: { value: 100, message: "Give a name of at most 100 characters." },
        })}
      />
      <TextField
        label="Email address"
        hint="You sign in by it, and invitations are bound to it, so it stays what it is."
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
