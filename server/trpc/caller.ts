import "server-only";
import { QueryClient } from "@tanstack/react-query";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { cookies } from "next/headers";
import { cache } from "react";
import { heldDeps } from "#server/console-deps";
import { ownPath } from "#server/own-path";
import { type Right, rightsOf } from "#server/roles";
import type { Membership } from "#server/services/sessions";
import { createTrpcContext } from "./context";
import { appRouter } from "./router";

const pageContext = cache(async () => createTrpcContext(heldDeps(), await cookies()));

/** Who looks at the page being rendered, or null. Asked any number of times, read once. */
export const pageSession = cache(async () => (await pageContext()).session());

/** A team that the reader is in, with what their role may do there: pages offer only what would work. */
export type PageTeam = Membership & { rights: Right[] };

/** The reader's teams, oldest first; none for whoever is not signed in. */
export const pageTeams = async (): Promise<PageTeam[]> =>
  ((await pageSession())?.memberships ?? []).map((membership) => ({
    ...membership,
    rights: rightsOf(membership.role),
  }));

/** The results gathered for the page being rendered, which travel to the browser with it. */
export const pageQueries = cache(() => new QueryClient({ defaultOptions: { queries: { retry: false } } }));

/** Calls procedures in this process while a page is rendered: no HTTP, one context for the whole page. */
export const trpc = createTRPCOptionsProxy({ router: appRouter, ctx: pageContext, queryClient: pageQueries });

/** Where somebody who signs in is to land: the wanted page where it is one of ours, else the console. */
export const landingPath = (wanted: string | undefined): string => ownPath(wanted, heldDeps().url);

/** The public origin, for examples that people paste. */
export const publicUrl = (): string => heldDeps().url;
