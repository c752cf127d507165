"use client";

import { useQuery } from "@tanstack/react-query";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/notes";
import { SkeletonCard } from "../../_ui/skeleton";
import { useTRPC } from "../../_ui/trpc";
import { AccountsSection } from "./accounts-section";
import { EventsSection } from "./events-section";
import { PasskeysSection } from "./passkeys-section";
import { PasswordSection } from "./password-section";
import { SecondStepSection } from "./second-step-section";
import { SessionsSection } from "./sessions-section";

/** Everything that guards the reader's own account, in the order in which people look for it. */
export function SecurityPage() {
  return (
    <div className="flex flex-col gap-6">
      <Locks />
      <SessionsSection />
      <EventsSection />
    </div>
  );
}

function Locks() {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(trpc.account.locks.queryOptions());
  if (error && !data) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonCard lines={5} />;
  return (
    <>
      <PasswordSection hasPassword={data.hasPassword} />
      <SecondStepSection locks={data} />
      <PasskeysSection locks={data} />
      {data.accounts.length > 0 ? <AccountsSection accounts={data.accounts} /> : null}
    </>
  );
}
