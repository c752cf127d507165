"use client";

import { useQuery } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { ActionForm } from "../../_ui/form/action-form";
import { CheckboxField, TextField } from "../../_ui/form/form";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { Section } from "../../_ui/page/section";
import { Address } from "../../_ui/text/address";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

/** The name and the email address of the user, and whether alerts are sent to it. */
export function ProfilePage() {
  const trpc = useTRPC();
  const profile = useQuery(trpc.profile.get.queryOptions());
  return (
    <Fetched by={profile} loading={<SkeletonCard lines={4} />}>
      {({ name, email, hasAlertEmails }) => (
        <div className="flex flex-col gap-6">
          <Section title="Profile" note="Visible to the members of your teams.">
            <ProfileForm name={name ?? ""} email={email} />
          </Section>
          <Section title="Alerts">
            <AlertEmails isOn={hasAlertEmails} />
          </Section>
        </div>
      )}
    </Fetched>
  );
}

function AlertEmails({ isOn }: { isOn: boolean }) {
  const trpc = useTRPC();
  const { run, isBusy } = useAction(trpc.profile.setAlertEmails.mutationOptions(), {
    done: (_, { isOn: isNowOn }) => (isNowOn ? "Alert emails turned on" : "Alert emails turned off"),
    refresh: [trpc.profile.get.queryKey()],
  });
  return (
    <div className="px-5 pb-5">
      <CheckboxField
        label="Email alerts"
        hint="About the teams that you own or administer, and about the installation if you operate it."
        checked={isOn}
        disabled={isBusy}
        onChange={({ target }) => run({ isOn: target.checked })}
      />
    </div>
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
      <div className="flex min-w-0 flex-col gap-1.5">
        <h3 className="font-medium">Email address</h3>
        <p>
          <Address>{email}</Address>
        </p>
        <p className="text-soft text-xs leading-5">
          Used to sign in and for invitations. It cannot be changed. To use another address, ask an owner or
          admin of each team to invite the new address, then create an account from that invitation.
        </p>
      </div>
    </ActionForm>
  );
}
