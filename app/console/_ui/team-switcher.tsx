"use client";

import { Check, ChevronsUpDown } from "lucide-react";
import { usePathname } from "next/navigation";
import { Menu } from "./menu";
import { sectionOf } from "./pages";
import { useTeam } from "./team";

/** The team of this page, and the way to the same page of another one. */
export function TeamSwitcher() {
  const { team, all } = useTeam();
  const pathname = usePathname();
  if (!team) return null;
  const sign = (
    <span
      aria-hidden="true"
      className="grid size-6 shrink-0 place-items-center rounded-md bg-mute-tint font-semibold text-mute text-xs uppercase"
    >
      {[...team.teamName][0]}
    </span>
  );
  if (all.length < 2)
    return (
      <p className="flex h-11 min-w-0 items-center gap-2.5 px-2 font-medium md:h-9">
        {sign}
        <span className="truncate">{team.teamName}</span>
      </p>
    );
  return (
    <Menu
      label="Switch the team"
      align="start"
      className="flex h-11 w-full min-w-0 items-center gap-2.5 rounded-lg px-2 text-left font-medium hover:bg-mute-tint md:h-9"
      items={all.map(({ teamId, teamName }) => ({
        label: teamName,
        id: teamId,
        Icon: teamId === team.teamId ? Check : NoSign,
        href: `${sectionOf(pathname)}?team=${encodeURIComponent(teamId)}`,
      }))}
    >
      {sign}
      <span className="truncate">{team.teamName}</span>
      <span className="sr-only">, switch the team</span>
      <ChevronsUpDown className="ml-auto size-4 shrink-0 text-soft" aria-hidden="true" />
    </Menu>
  );
}

/** Keeps the names below each other. */
function NoSign() {
  return <span className="size-4 shrink-0" />;
}
