"use client";

import { useQuery } from "@tanstack/react-query";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { useTRPC } from "../../_ui/trpc";
import { AccountsSection } from "./accounts-section";
import { EventsSection } from "./events-section";
import { PasskeysSection } from "./passkeys/passkeys-section";
import { PasswordSection } from "./password-section";
import { SessionsSection } from "./sessions-section";
import { TwoFactorSection } from "./two-factor/two-factor-section";

/** The sign-in methods, the sessions and the security events of the user. */
export function SecurityPage() {
  const trpc = useTRPC();
  const signInMethods = useQuery(trpc.account.signInMethods.queryOptions());
  return (
    <div className="flex flex-col gap-6">
      <Fetched by={signInMethods} loading={<SkeletonCard lines={5} />}>
        {(methods) => (
          <>
            <PasswordSection hasPassword={methods.hasPassword} />
            <TwoFactorSection methods={methods} />
            <PasskeysSection methods={methods} />
            {methods.accounts.length > 0 ? <AccountsSection accounts={methods.accounts} /> : null}
          </>
        )}
      </Fetched>
      <SessionsSection />
      <EventsSection />
    </div>
  );
}
