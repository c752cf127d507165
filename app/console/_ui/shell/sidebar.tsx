"use client";

import { Check, ChevronsUpDown, LogOut } from "lucide-react";
import { usePathname } from "next/navigation";
import { useTheme } from "next-themes";
import type { ReactNode } from "react";
import { Menu } from "../dialog/menu";
import { PageLink } from "../page/page-link";
import { useConsoleHref, useTeam } from "../team";
import { useLeave } from "./leave-guard";
import { DOCUMENTS, isWithin, sectionOf } from "./pages";
import { signOutOfConsole } from "./sign-out";
import { usePages } from "./use-pages";

const lineStyle =
  "flex h-11 items-center gap-2.5 rounded-lg px-2.5 font-medium motion-safe:transition-colors md:h-9";
const awayStyle = `${lineStyle} text-soft hover:bg-mute-tint hover:text-ink`;

/** Links to the console pages of the current team and to the API reference. */
export function Navigation({ onLeave }: { onLeave?: () => void }) {
  const pathname = usePathname();
  const hrefOf = useConsoleHref();
  return (
    <nav aria-label="Console" className="flex flex-col gap-0.5">
      {usePages().map(({ path, label, Icon }) => {
        const isHere = isWithin(pathname, path);
        return (
          <PageLink
            key={path}
            href={hrefOf(path)}
            {...(onLeave ? { onClick: onLeave } : {})}
            {...(isHere ? { "aria-current": "page" as const } : {})}
            className={isHere ? `${lineStyle} bg-mute-tint text-ink` : awayStyle}
          >
            <Icon className="size-4" />
            {label}
          </PageLink>
        );
      })}
      <div className="mt-4 flex flex-col gap-0.5">
        {DOCUMENTS.map(({ path, label, Icon }) => (
          <a key={path} href={path} className={awayStyle}>
            <Icon className="size-4" />
            {label}
          </a>
        ))}
      </div>
    </nav>
  );
}

/** Shows the current team and links to the same page in the user's other teams. */
export function TeamSwitcher() {
  const { team, all } = useTeam();
  const pathname = usePathname();
  if (!team) return null;
  const initial = <Initial of={team.teamName} className="rounded-md bg-mute-tint text-mute" />;
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
      <ChevronsUpDown className="ml-auto size-4 shrink-0 text-soft" />
    </Menu>
  );
}

const Initial = ({ of, className }: { of: string; className: string }) => (
  <span
    aria-hidden="true"
    className={`grid size-6 shrink-0 place-items-center font-semibold text-xs uppercase ${className}`}
  >
    {[...of][0]}
  </span>
);

/** Keeps the names aligned. */
function NoIcon() {
  return <span className="size-4 shrink-0" />;
}

const THEMES = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

/** Shows the signed-in user and opens the account menu, inside the navigation landmark. */
export function AccountMenu({ email }: { email: string }) {
  const { theme = "system", setTheme } = useTheme();
  const leave = useLeave();
  const signOut = () => leave(() => void signOutOfConsole());
  return (
    <Menu
      label="Account"
      align="start"
      isInline
      className="flex h-11 w-full min-w-0 items-center gap-2.5 rounded-lg px-2 text-left text-soft hover:bg-mute-tint hover:text-ink motion-safe:transition-colors md:h-10"
      choice={{ label: "Appearance", options: THEMES, value: theme, onChange: setTheme }}
      items={["line", { label: "Sign out", Icon: LogOut, onSelect: signOut }]}
    >
      <Initial of={email} className="rounded-full bg-info-tint text-info" />
      <span className="truncate">{email}</span>
      <ChevronsUpDown className="ml-auto size-4 shrink-0" />
    </Menu>
  );
}

/**
 * A link to the overview of the current team, or of the user's first team if the URL names one they are not
 * in.
 */
export function HomeLink({ className, children }: { className: string; children: ReactNode }) {
  const hrefOf = useConsoleHref();
  const { team } = useTeam();
  return (
    <PageLink href={team ? hrefOf("/console") : "/console"} className={className}>
      {children}
    </PageLink>
  );
}
