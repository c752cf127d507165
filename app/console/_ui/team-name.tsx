"use client";

import { useTeam } from "./team";

/** The team of this page, where its reader has several to keep apart. */
export function TeamName() {
  const { team, all } = useTeam();
  if (all.length < 2 || !team) return null;
  return <span className="truncate text-soft text-xs md:mt-2">{team.teamName}</span>;
}
