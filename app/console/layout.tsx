import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { type ReactNode, Suspense } from "react";
import { pageQueries, pageSession, pageTeams, trpc } from "#server/trpc/caller";
import { CallProvider } from "./_ui/providers";
import { Shell } from "./_ui/shell";
import { TeamProvider } from "./_ui/team";
import { Toasts } from "./_ui/toasts";
import { NowProvider } from "./_ui/when";

export const metadata: Metadata = { title: { default: "Console", template: "%s · Posthorn" } };

/** The frame of the console. Each page asks for itself who may see it; here nobody is turned away. */
export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const session = await pageSession();
  if (!session) return children;
  await pageQueries().prefetchQuery(trpc.service.readiness.queryOptions());
  return (
    <CallProvider>
      <HydrationBoundary state={dehydrate(pageQueries())}>
        <Suspense>
          <TeamProvider teams={await pageTeams()}>
            <NowProvider startMs={Date.now()}>
              <Shell email={session.user.email}>{children}</Shell>
              <Toasts />
            </NowProvider>
          </TeamProvider>
        </Suspense>
      </HydrationBoundary>
    </CallProvider>
  );
}
