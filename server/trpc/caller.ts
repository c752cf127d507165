import "server-only";
import { QueryClient } from "@tanstack/react-query";
import { createTRPCOptionsProxy } from "@trpc/tanstack-react-query";
import { cookies } from "next/headers";
import { cache } from "react";
import { isDatabaseUnreachable } from "#db/faults";
import { getConsoleDeps } from "#server/auth/deps";
import { cli } from "#server/platform/env/cli";
import { resolveRedirectPath } from "#server/platform/http/own-path";
import { hasUsers } from "#server/services/account/first-user";
import type { Membership } from "#server/services/people/sessions";
import { findSystemEmailFault } from "#server/services/system-mail/queue";
import { type Permission, permissionsOf } from "#server/shared/roles";
import { createTrpcContext } from "./context";
import { appRouter } from "./router";

const pageContext = cache(async () => createTrpcContext(getConsoleDeps(), await cookies()));

/** The session of the reader, or null. Read once per page. */
export const pageSession = cache(async () => (await pageContext()).session());

/** Whether the reader operates the installation. */
export const isPageOperator = async (): Promise<boolean> => (await pageSession())?.isOperator ?? false;

/** A team of the reader, with the permissions of their role: pages only offer permitted actions. */
export type PageTeam = Membership & { permissions: Permission[] };

/** The reader's teams, oldest first; empty without a session. */
export const pageTeams = async (): Promise<PageTeam[]> =>
  ((await pageSession())?.memberships ?? []).map((membership) => ({
    ...membership,
    permissions: permissionsOf(membership.role),
  }));

/** The query results of the page being rendered, each read once; they are sent to the browser with it. */
export const pageQueries = cache(
  () =>
    new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Number.POSITIVE_INFINITY } } }),
);

/** Calls procedures in this process while a page is rendered: without HTTP, with one context per page. */
export const trpc = createTRPCOptionsProxy({ router: appRouter, ctx: pageContext, queryClient: pageQueries });

/** The path to open after sign-in: the requested page if it is one of ours, otherwise the console. */
export const landingPath = (wanted: string | undefined): string =>
  resolveRedirectPath(wanted, getConsoleDeps().url);

/** Whether there are no users yet, so the only way to sign up is the code for the first user. */
export const hasNoUsers = cache(async (): Promise<boolean> => {
  const deps = getConsoleDeps();
  const check = async () => {
    if (await hasUsers(deps)) return false;
    await deps.prepareFirstUser();
    return !(await hasUsers(deps));
  };
  return withFallback(check(), false);
});

/**
 * The sign-in pages also render while the database is unavailable; the actions on them then report the error.
 */
const withFallback = <T>(result: Promise<T>, fallback: T): Promise<T> =>
  result.catch((error) => {
    if (isDatabaseUnreachable(error)) return fallback;
    throw error;
  });

/**
 * Why this installation cannot send links by email, and how to fix it; null if it can. Pages hide such links
 * otherwise.
 */
export const systemEmailFault = (): Promise<string | null> =>
  withFallback(findSystemEmailFault(getConsoleDeps()), "The database is currently unavailable.");

/** The public origin, for code samples. */
export const publicUrl = (): string => getConsoleDeps().url;

/** The command that runs the CLI, for texts that name one of its commands. */
export const cliCommand = (): string => cli;
