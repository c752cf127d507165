"use client";

import { useQuery } from "@tanstack/react-query";
import { useRouter, useSearchParams } from "next/navigation";
import { Suspense, useState } from "react";
import { ActionForm } from "../../_ui/form/action-form";
import { Button } from "../../_ui/form/button";
import { CheckboxField, TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Section } from "../../_ui/page/card";
import { Fetched } from "../../_ui/page/fetched";
import { lazyDialog, lazyPart } from "../../_ui/page/lazy-part";
import { useConsoleHref } from "../../_ui/team";
import { Address } from "../../_ui/text/address";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

const AddressConfirmation = lazyPart(
  async () => (await import("./address-confirmation")).AddressConfirmation,
);
const ChangeAddress = lazyDialog(async () => (await import("./change-address")).ChangeAddress);

/** The name and the email address of the user, and whether alerts are sent to it. */
export function ProfilePage() {
  const trpc = useTRPC();
  const profile = useQuery(trpc.profile.get.queryOptions());
  const token = useSearchParams().get("confirm");
  const router = useRouter();
  const hrefOf = useConsoleHref();
  return (
    <Fetched by={profile} loading={<SkeletonCard lines={4} />}>
      {({ name, email, proof, hasAlertEmails }) => (
        <div className="flex flex-col gap-6">
          {token ? (
            <Suspense fallback={<SkeletonCard />}>
              <AddressConfirmation
                token={token}
                onDone={() => router.replace(hrefOf("/console/settings/profile"))}
              />
            </Suspense>
          ) : null}
          <Section title="Profile" note="Visible to the members of your teams.">
            <ProfileForm name={name ?? ""} />
            <EmailAddress email={email} proof={proof} />
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

function ProfileForm({ name }: { name: string }) {
  const trpc = useTRPC();
  const { field, handleSubmit, formState } = useFields({ values: { name } });
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
        {...field("name", {
          maxLength: { value: 100, message: "Enter a name of at most 100 characters." },
        })}
      />
    </ActionForm>
  );
}

function EmailAddress({ email, proof }: { email: string; proof: string }) {
  const [isChanging, setChanging] = useState(false);
  return (
    <div className="flex min-w-0 flex-col gap-1.5 px-5 pb-5">
      <h3 className="font-medium">Email address</h3>
      <p>
        <Address>{email}</Address>
      </p>
      <p className="text-soft text-xs leading-5">Used to sign in, for alerts and for invitations.</p>
      <div className="mt-1">
        <Button onPointerEnter={ChangeAddress.preload} onClick={() => setChanging(true)}>
          Change email address…
        </Button>
      </div>
      {isChanging ? <ChangeAddress proof={proof} onClose={() => setChanging(false)} /> : null}
    </div>
  );
}
