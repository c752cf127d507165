"use client";

import { useSearchParams } from "next/navigation";
import { createContext, type ReactNode, use } from "react";
import type { Permission } from "#server/shared/roles";
import type { PageTeam } from "#server/trpc/caller";

const Teams = createContext<PageTeam[]>([]);
const Operator = createContext(false);

type Props = { teams: PageTeam[]; isOperator: boolean; children: ReactNode };

/**
 * Provides the user's teams, oldest first, and whether the user operates the installation, to the components
 * below.
 */
export function TeamProvider({ teams, isOperator, children }: Props) {
  return (
    <Operator value={isOperator}>
      <Teams value={teams}>{children}</Teams>
    </Operator>
  );
}

/** Whether the user operates the installation. Only for display: the API procedures check it. */
export const useIsOperator = (): boolean => use(Operator);

/** The current team: the one in the URL, or else the user's first. Null if the user is not a member of it. */
export function useTeam(): { team: PageTeam | null; all: PageTeam[] } {
  const all = use(Teams);
  const requested = useSearchParams().get("team");
  const team = requested === null ? all[0] : all.find(({ teamId }) => teamId === requested);
  return { team: team ?? null, all };
}

/** Returns a function that adds the current team, and further URL parameters, to a console path. */
export function useConsoleHref(): (path: string, parameters?: Record<string, string>) => string {
  const requested = useSearchParams().get("team");
  return (path, parameters) => {
    const query = new URLSearchParams({ ...(requested === null ? {} : { team: requested }), ...parameters });
    return query.size === 0 ? path : `${path}?${query}`;
  };
}

/**
 * Whether the user's role has a permission in the current team. Only for display: the API procedures enforce
 * permissions.
 */
export function useCan(): (permission: Permission) => boolean {
  const { team } = useTeam();
  return (permission) => team?.permissions.includes(permission) ?? false;
}
