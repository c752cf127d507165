"use client";

import { Command } from "cmdk";
import {
  Globe,
  Keyboard,
  KeyRound,
  LayoutTemplate,
  LogOut,
  Moon,
  Sun,
  SunMoon,
  UserPlus,
  Users,
  Webhook,
} from "lucide-react";
import { usePathname } from "next/navigation";
import { useTheme } from "next-themes";
import type { Permission } from "#server/shared/roles";
import { Key } from "../list/pager";
import { signOutOfConsole } from "../shell/sign-out";
import { useCan, useTeam } from "../team";
import { PAGES, REFERENCE, sectionOf } from "./pages";
import { groupStyle, PaletteItem } from "./palette-item";

const CREATIONS = [
  { path: "/console/keys", label: "Create key", Icon: KeyRound, permission: "keys:write" },
  {
    path: "/console/templates",
    label: "Create template",
    Icon: LayoutTemplate,
    permission: "templates:write",
  },
  { path: "/console/domains", label: "Add domain", Icon: Globe, permission: "domains:write" },
  { path: "/console/webhooks", label: "Add webhook", Icon: Webhook, permission: "webhooks:write" },
  { path: "/console/settings/members", label: "Invite member", Icon: UserPlus, permission: "members:write" },
] as const satisfies { path: string; label: string; Icon: typeof Globe; permission: Permission }[];

const THEMES = [
  { theme: "light", label: "Light appearance", Icon: Sun },
  { theme: "dark", label: "Dark appearance", Icon: Moon },
  { theme: "system", label: "System appearance", Icon: SunMoon },
] as const;

type Props = {
  go: (path: string, query?: string) => void;
  run: (run: () => void) => void;
  onKeys: () => void;
};

/** Pages and global actions, filtered by the permissions of the user's role. */
export function PaletteCommands({ go, run, onKeys }: Props) {
  const can = useCan();
  const { team, all } = useTeam();
  const { setTheme } = useTheme();
  const pathname = usePathname();
  return (
    <>
      <Command.Group heading="Go to" className={groupStyle}>
        {PAGES.map(({ path, label, Icon, key }) => (
          <PaletteItem
            key={path}
            value={label}
            Icon={Icon}
            onSelect={() => go(path)}
            keywords={["go to", "open"]}
            aside={<Jump keyName={key} />}
          >
            {label}
          </PaletteItem>
        ))}
        <PaletteItem
          value={REFERENCE.label}
          Icon={REFERENCE.Icon}
          onSelect={() => run(() => window.location.assign(REFERENCE.path))}
          keywords={["docs", "openapi"]}
          aside={<Jump keyName={REFERENCE.key} />}
        >
          {REFERENCE.label}
        </PaletteItem>
      </Command.Group>
      <Command.Group heading="Actions" className={groupStyle}>
        {CREATIONS.filter(({ permission }) => can(permission)).map(({ path, label, Icon }) => (
          <PaletteItem
            key={path}
            value={label}
            Icon={Icon}
            onSelect={() => go(path, "new=true")}
            keywords={["create", "add", "new"]}
          >
            {label}
          </PaletteItem>
        ))}
        {all
          .filter(({ teamId }) => teamId !== team?.teamId)
          .map(({ teamId, teamName }) => (
            <PaletteItem
              key={teamId}
              value={`Switch to ${teamName} ${teamId}`}
              Icon={Users}
              onSelect={() =>
                run(() => window.location.assign(`${sectionOf(pathname)}?team=${encodeURIComponent(teamId)}`))
              }
              keywords={["team"]}
            >
              Switch to {teamName}
            </PaletteItem>
          ))}
        {THEMES.map(({ theme, label, Icon }) => (
          <PaletteItem
            key={theme}
            value={label}
            Icon={Icon}
            onSelect={() => run(() => setTheme(theme))}
            keywords={["theme", "mode"]}
          >
            {label}
          </PaletteItem>
        ))}
        <PaletteItem
          value="Keyboard shortcuts"
          Icon={Keyboard}
          onSelect={() => run(onKeys)}
          keywords={["keys", "help"]}
          aside={<Key>?</Key>}
        >
          Keyboard shortcuts
        </PaletteItem>
        <PaletteItem
          value="Sign out"
          Icon={LogOut}
          onSelect={() => run(() => void signOutOfConsole())}
          keywords={["log out"]}
        >
          Sign out
        </PaletteItem>
      </Command.Group>
    </>
  );
}

function Jump({ keyName }: { keyName: string }) {
  return (
    <span className="shrink-0 max-md:hidden" aria-hidden="true">
      <Key>g</Key>
      <Key>{keyName}</Key>
    </span>
  );
}
