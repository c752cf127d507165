"use client";

import { useSearchParams } from "next/navigation";
import { createContext, type ReactNode, use } from "react";
import type { Right } from "#server/roles";
import type { PageTeam } from "#server/trpc/caller";

const Teams = createContext<PageTeam[]>([]);

/** Tells the page below in which teams its reader is, oldest first. */
export function TeamProvider({ teams, children }: { teams: PageTeam[]; children: ReactNode }) {
  return <Teams value={teams}>{children}</Teams>;
}

/** The team of this page: the one that its address names, else the reader's first. Null where there is none. */
export function useTeam(): { team: PageTeam | null; all: PageTeam[] } {
  const all = use(Teams);
  const wanted = useSearchParams().get("team");
  const team = wanted === null ? all[0] : all.find(({ teamId }) => teamId === wanted);
  return { team: team ?? null, all };
}

/** Addresses of the console which stay in the team of this page. */
export function useConsoleHref(): (path: string) => string {
  const wanted = useSearchParams().get("team");
  return (path) => (wanted === null ? path : `${path}?team=${encodeURIComponent(wanted)}`);
}

/** Whether the reader's role has a right in the team of this page. The procedures decide; this only keeps offers honest. */
export function useMay(): (right: Right) => boolean {
  const { team } = useTeam();
  return (right) => team?.rights.includes(right) ?? false;
}
