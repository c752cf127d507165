"use client";

import { useQuery } from "@tanstack/react-query";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { useTRPC } from "../../_ui/trpc";
import { EventsSection, SessionsSection } from "./sessions-section";
import { SignInMethods } from "./sign-in-methods";

/** The sign-in methods, the sessions and the security events of the user. */
export function SecurityPage() {
  const trpc = useTRPC();
  const signInMethods = useQuery(trpc.account.signInMethods.queryOptions());
  return (
    <div className="flex flex-col gap-6">
      <Fetched by={signInMethods} loading={<SkeletonCard lines={5} />}>
        {(methods) => <SignInMethods methods={methods} />}
      </Fetched>
      <SessionsSection />
      <EventsSection />
    </div>
  );
}
