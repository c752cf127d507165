import {
  Ban,
  FileUp,
  Globe,
  Keyboard,
  KeyRound,
  LayoutTemplate,
  LogOut,
  type LucideIcon,
  Moon,
  Settings,
  Sun,
  SunMoon,
  UserPlus,
  Users,
  Webhook,
} from "lucide-react";
import { usePathname } from "next/navigation";
import { useTheme } from "next-themes";
import type { ReactNode } from "react";
import type { Permission } from "#server/shared/roles";
import { loadPage } from "../connection/connection";
import { Key } from "../list/pager";
import { useLeave } from "../shell/leave-guard";
import { DOCUMENTS, INSTALLATION, INSTALLATION_PAGES, SETTINGS_PAGES, sectionOf } from "../shell/pages";
import { signOutOfConsole } from "../shell/sign-out";
import { usePages } from "../shell/use-pages";
import { useCan, useIsOperator, useTeam } from "../team";
import type { Go, PaletteGroup, PaletteItem } from "./palette-item";

type Creation = {
  path: string;
  label: string;
  Icon: LucideIcon;
  permission: Permission;
  /** What opens the form on its page, instead of `new`. */
  parameter?: "import";
};

const CREATIONS: Creation[] = [
  { path: "/console/keys", label: "Create key", Icon: KeyRound, permission: "keys:write" },
  {
    path: "/console/templates",
    label: "Create template",
    Icon: LayoutTemplate,
    permission: "templates:write",
  },
  { path: "/console/domains", label: "Add domain", Icon: Globe, permission: "domains:write" },
  { path: "/console/webhooks", label: "Add webhook", Icon: Webhook, permission: "webhooks:write" },
  {
    path: "/console/suppressions",
    label: "Suppress addresses",
    Icon: Ban,
    permission: "suppressions:write",
  },
  {
    path: "/console/suppressions",
    label: "Import suppressions",
    Icon: FileUp,
    permission: "suppressions:write",
    parameter: "import",
  },
  { path: "/console/settings/members", label: "Invite member", Icon: UserPlus, permission: "members:write" },
];

const THEMES = [
  { theme: "light", label: "Light appearance", Icon: Sun },
  { theme: "dark", label: "Dark appearance", Icon: Moon },
  { theme: "system", label: "System appearance", Icon: SunMoon },
] as const;

type Wanted = {
  text: string;
  go: Go;
  run: (run: () => void) => void;
  onKeys: () => void;
};
type PaletteCommand = {
  label: string;
  id?: string;
  Icon: LucideIcon;
  onSelect: () => void;
  /** Alternative search terms. */
  keywords?: readonly string[];
  aside?: ReactNode;
};

/**
 * Pages and global actions that the user's role permits and that the text names: each of its words begins one
 * of the command's. Without a text all but the pages below another page, which would make the list long.
 */
export function usePaletteCommands({ text, go, run, onKeys }: Wanted): PaletteGroup[] {
  const can = useCan();
  const leave = useLeave();
  const { team, all } = useTeam();
  const { setTheme } = useTheme();
  const pathname = usePathname();
  const isOperator = useIsOperator();
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
      onSelect: () => run(() => leave(() => void loadPage(path))),
      keywords: ["docs", "help", "openapi"],
      aside: <Jump pageKey={key} />,
    }),
  );
  const pageBelow = (section: string, Icon: LucideIcon, page: SubPage): PaletteCommand => ({
    label: `${section}: ${page.label}`,
    Icon,
    onSelect: () => go(page.path),
    keywords: page.keywords ?? [],
  });
  const below = [
    ...SETTINGS_PAGES.map((page) => pageBelow("Settings", Settings, page)),
    ...(isOperator
      ? INSTALLATION_PAGES.map((page) => pageBelow("Installation", INSTALLATION.Icon, page))
      : []),
  ];
  const openTeam = (id: string) => void loadPage(`${sectionOf(pathname)}?team=${encodeURIComponent(id)}`);
  const actions: PaletteCommand[] = [
    ...CREATIONS.filter(({ permission }) => can(permission)).map(
      ({ path, label, Icon, parameter = "new" }) => {
        const onSelect = () => go(path, { [parameter]: "true" });
        return { label, Icon, onSelect, keywords: ["create", "add", "new"] };
      },
    ),
    ...all
      .filter(({ teamId }) => teamId !== team?.teamId)
      .map(({ teamId: id, teamName }) => {
        const onSelect = () => run(() => leave(() => openTeam(id)));
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
      onSelect: () => run(() => leave(() => void signOutOfConsole())),
      keywords: ["log out"],
    },
  ];
  const named = (commands: readonly PaletteCommand[]) =>
    commands.filter((command) => isNamedBy(command, text)).map(itemOf);
  return [
    { heading: "Go to", items: named([...pages, ...(text === "" ? [] : below), ...documents]) },
    { heading: "Actions", items: named(actions) },
  ];
}

type SubPage = { path: string; label: string; keywords?: readonly string[] };

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}@.+-]+/u)
    .filter(Boolean);

function isNamedBy({ label, keywords = [] }: PaletteCommand, text: string): boolean {
  const own = wordsOf([label, ...keywords].join(" "));
  const words = wordsOf(text);
  if (words.length === 0) return text === "";
  return words.every((word) => own.some((each) => each.startsWith(word)));
}

const itemOf = ({ label, id = "", Icon, onSelect, aside }: PaletteCommand): PaletteItem => ({
  value: `command ${label} ${id}`.trim(),
  Icon,
  onSelect,
  content: label,
  aside,
});

const Jump = ({ pageKey }: { pageKey: string }) => (
  <span className="shrink-0 max-md:hidden" aria-hidden="true">
    <Key>g</Key>
    <Key>{pageKey}</Key>
  </span>
);
