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
import { DOCUMENTS, sectionOf } from "./pages";
import { type Go, groupStyle, PaletteItem, type PaletteItemProps } from "./palette-results";
import { usePages } from "./use-pages";

const CREATIONS: { path: string; label: string; Icon: typeof Globe; permission: Permission }[] = [
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
];

const THEMES = [
  { theme: "light", label: "Light appearance", Icon: Sun },
  { theme: "dark", label: "Dark appearance", Icon: Moon },
  { theme: "system", label: "System appearance", Icon: SunMoon },
] as const;

type Props = {
  go: Go;
  run: (run: () => void) => void;
  onKeys: () => void;
};
type PaletteCommand = { label: string; id?: string } & Pick<
  PaletteItemProps,
  "Icon" | "onSelect" | "keywords" | "aside"
>;

/** Pages and global actions, filtered by the permissions of the user's role. */
export function PaletteCommands({ go, run, onKeys }: Props) {
  const can = useCan();
  const { team, all } = useTeam();
  const { setTheme } = useTheme();
  const pathname = usePathname();
  const pages = usePages().map(({ path, label, Icon, key }): PaletteCommand => {
    return {
      label,
      Icon,
      onSelect: () => go(path),
      keywords: ["go to", "open"],
      aside: <Jump pageKey={key} />,
    };
  });
  const documents = DOCUMENTS.map(
    ({ path, label, Icon, key }): PaletteCommand => ({
      label,
      Icon,
      onSelect: () => run(() => window.location.assign(path)),
      keywords: ["docs", "help", "openapi"],
      aside: <Jump pageKey={key} />,
    }),
  );
  const openTeam = (id: string) =>
    window.location.assign(`${sectionOf(pathname)}?team=${encodeURIComponent(id)}`);
  const actions: PaletteCommand[] = [
    ...CREATIONS.filter(({ permission }) => can(permission)).map(({ path, label, Icon }) => {
      return { label, Icon, onSelect: () => go(path, { new: "true" }), keywords: ["create", "add", "new"] };
    }),
    ...all
      .filter(({ teamId }) => teamId !== team?.teamId)
      .map(({ teamId: id, teamName }) => {
        const onSelect = () => run(() => openTeam(id));
        return { label: `Switch to ${teamName}`, id, Icon: Users, onSelect, keywords: ["team"] };
      }),
    ...THEMES.map(({ theme, label, Icon }) => {
      return { label, Icon, onSelect: () => run(() => setTheme(theme)), keywords: ["theme", "mode"] };
    }),
    {
      label: "Keyboard shortcuts",
      Icon: Keyboard,
      onSelect: () => run(onKeys),
      keywords: ["keys", "help"],
      aside: <Key>?</Key>,
    },
    {
      label: "Sign out",
      Icon: LogOut,
      onSelect: () => run(() => void signOutOfConsole()),
      keywords: ["log out"],
    },
  ];
  return (
    <>
      <Commands heading="Go to" commands={[...pages, ...documents]} />
      <Commands heading="Actions" commands={actions} />
    </>
  );
}

const Commands = ({ heading, commands }: { heading: string; commands: PaletteCommand[] }) => (
  <Command.Group heading={heading} className={groupStyle}>
    {commands.map(({ label, id = "", ...item }) => (
      <PaletteItem key={label + id} value={`${label} ${id}`.trim()} {...item}>
        {label}
      </PaletteItem>
    ))}
  </Command.Group>
);

const Jump = ({ pageKey }: { pageKey: string }) => (
  <span className="shrink-0 max-md:hidden" aria-hidden="true">
    <Key>g</Key>
    <Key>{pageKey}</Key>
  </span>
);
