import "server-only";
import { QueryClient } from "@tanstack/react-query";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { cookies } from "next/headers";
import { cache } from "react";
import { isDatabaseAway } from "#db/faults";
import { heldDeps } from "#server/console-deps";
import { ownPath } from "#server/own-path";
import { type Right, rightsOf } from "#server/roles";
import { hasUsers } from "#server/services/first-user";
import type { Membership } from "#server/services/sessions";
import { canSendSystemMail } from "#server/services/system-mail/queue";
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

/** Whether nobody is a user yet, so that only the code for the first one opens anything. */
export const isWithoutUsers = cache(async (): Promise<boolean> => {
  const deps = heldDeps();
  const ask = async () => {
    if (await hasUsers(deps)) return false;
    await deps.prepareFirstUser();
    return !(await hasUsers(deps));
  };
  return unlessAway(ask(), false);
});

/** The way in is a page also while the database is away: what is done on it says then that it does not work. */
const unlessAway = <T>(asked: Promise<T>, otherwise: T): Promise<T> =>
  asked.catch((error) => {
    if (isDatabaseAway(error)) return otherwise;
    throw error;
  });

/** Whether this installation mails links. Where it does not, nothing offers any, and pages say what there is instead. */
export const sendsOwnMail = (): Promise<boolean> => unlessAway(canSendSystemMail(heldDeps()), false);

/** The public origin, for examples that people paste. */
export const publicUrl = (): string => heldDeps().url;
