"use client";

import { Check, ChevronsUpDown } from "lucide-react";
import { usePathname } from "next/navigation";
import { Menu } from "../dialog/menu";
import { sectionOf } from "../palette/pages";
import { useTeam } from "../team";

/** Shows the current team and links to the same page in the user's other teams. */
export function TeamSwitcher() {
  const { team, all } = useTeam();
  const pathname = usePathname();
  if (!team) return null;
  const initial = (
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
        {initial}
        <span className="truncate">{team.teamName}</span>
      </p>
    );
  return (
    <Menu
      label="Switch team"
      align="start"
      className="flex h-11 w-full min-w-0 items-center gap-2.5 rounded-lg px-2 text-left font-medium hover:bg-mute-tint md:h-9"
      items={all.map(({ teamId, teamName }) => ({
        label: teamName,
        id: teamId,
        Icon: teamId === team.teamId ? Check : NoIcon,
        href: `${sectionOf(pathname)}?team=${encodeURIComponent(teamId)}`,
      }))}
    >
      {initial}
      <span className="truncate">{team.teamName}</span>
      <span className="sr-only">, switch team</span>
      <ChevronsUpDown className="ml-auto size-4 shrink-0 text-soft" aria-hidden="true" />
    </Menu>
  );
}

/** Keeps the names aligned. */
function NoIcon() {
  return <span className="size-4 shrink-0" />;
}
