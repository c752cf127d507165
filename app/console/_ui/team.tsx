"use client";

import { useSearchParams } from "next/navigation";
import { createContext, type ReactNode, use } from "react";
import type { Membership } from "#server/services/sessions";

const Memberships = createContext<Membership[]>([]);

/** Tells the page below in which teams its reader is, oldest first. */
export function TeamProvider({ memberships, children }: { memberships: Membership[]; children: ReactNode }) {
  return <Memberships value={memberships}>{children}</Memberships>;
}

/** The team of this page: the one that its address names, else the reader's first. Null where there is none. */
export function useTeam(): { team: Membership | null; all: Membership[] } {
  const all = use(Memberships);
  const wanted = useSearchParams().get("team");
  const team = wanted === null ? all[0] : all.find(({ teamId }) => teamId === wanted);
  return { team: team ?? null, all };
}

/** Addresses of the console which stay in the team of this page. */
export function useConsoleHref(): (path: string) => string {
  const wanted = useSearchParams().get("team");
  return (path) => (wanted === null ? path : `${path}?team=${encodeURIComponent(wanted)}`);
}
