"use client";

import { useQuery } from "@tanstack/react-query";
import { faultOf } from "../../_ui/fault";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { FaultNote } from "../../_ui/text/notes";
import { useTRPC } from "../../_ui/trpc";
import { AccountsSection } from "./accounts-section";
import { EventsSection } from "./events-section";
import { PasskeysSection } from "./passkeys-section";
import { PasswordSection } from "./password-section";
import { SessionsSection } from "./sessions-section";
import { TwoFactorSection } from "./two-factor-section";

/** The sign-in methods, the sessions and the security events of the user. */
export function SecurityPage() {
  return (
    <div className="flex flex-col gap-6">
      <SignInMethods />
      <SessionsSection />
      <EventsSection />
    </div>
  );
}

function SignInMethods() {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(trpc.account.signInMethods.queryOptions());
  if (error && !data) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonCard lines={5} />;
  return (
    <>
      <PasswordSection hasPassword={data.hasPassword} />
      <TwoFactorSection methods={data} />
      <PasskeysSection methods={data} />
      {data.accounts.length > 0 ? <AccountsSection accounts={data.accounts} /> : null}
    </>
  );
}
