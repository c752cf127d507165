import { dehydrate, HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { pageQueries, pageSession, pageTeams, trpc } from "#server/trpc/caller";
import { Toasts } from "./_ui/dialog/toasts";
import { LiveProvider } from "./_ui/live";
import { SessionWatch } from "./_ui/session/session-watch";
import { CallProvider } from "./_ui/shell/providers";
import { Shell } from "./_ui/shell/shell";
import { TeamProvider } from "./_ui/team";
import { NowProvider } from "./_ui/text/when";
import { loginPath } from "./console-page";

export const metadata: Metadata = { title: { default: "Console", template: "%s · Backstamp" } };

/**
 * The frame of the console. A visitor without a session is redirected here, by the status of the response: a
 * page could only do it by a script, once its loading state is sent. It does not restrict access: each page
 * checks permissions itself. It has no `Suspense` around it, because the response begins at the first one,
 * and its status cannot change after that.
 */
export default async function ConsoleLayout({ children }: { children: ReactNode }) {
  const session = await pageSession();
  if (!session) redirect(loginPath((await headers()).get("x-page") ?? "/console"));
  await Promise.all([
    pageQueries().prefetchQuery(trpc.service.readiness.queryOptions()),
    pageQueries().prefetchQuery(trpc.service.pauses.queryOptions()),
  ]);
  return (
    <CallProvider>
      <HydrationBoundary state={dehydrate(pageQueries())}>
        <TeamProvider teams={await pageTeams()} isOperator={session.isOperator}>
          <NowProvider startMs={Date.now()}>
            <LiveProvider>
              <Shell email={session.user.email}>{children}</Shell>
            </LiveProvider>
            <Toasts />
            <SessionWatch email={session.user.email} />
          </NowProvider>
        </TeamProvider>
      </HydrationBoundary>
    </CallProvider>
  );
}
