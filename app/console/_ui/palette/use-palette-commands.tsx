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
import type { Permission } from "#server/shared/roles";
import { loadPage } from "../connection/connection";
import { Key } from "../list/pager";
import { useLeave } from "../shell/leave-guard";
import {
  type ConsolePage,
  DOCUMENTS,
  INSTALLATION,
  INSTALLATION_PAGES,
  SETTINGS_PAGES,
  sectionOf,
} from "../shell/pages";
import { signOutOfConsole } from "../shell/sign-out";
import { usePages } from "../shell/use-pages";
import { useCan, useIsOperator, useTeam } from "../team";
import type { Go, PaletteGroup, PaletteItem } from "./palette-item";

type Creation = {
  /** Its path below `/console`. */
  page: string;
  label: string;
  Icon: LucideIcon;
  permission: Permission;
  /** What opens the form on its page, instead of `new`. */
  parameter?: "import";
};

const CREATIONS: Creation[] = [
  { page: "keys", label: "Create key", Icon: KeyRound, permission: "keys:write" },
  { page: "templates", label: "Create template", Icon: LayoutTemplate, permission: "templates:write" },
  { page: "domains", label: "Add domain", Icon: Globe, permission: "domains:write" },
  { page: "webhooks", label: "Add webhook", Icon: Webhook, permission: "webhooks:write" },
  { page: "suppressions", label: "Suppress addresses", Icon: Ban, permission: "suppressions:write" },
  {
    page: "suppressions",
    label: "Import suppressions",
    Icon: FileUp,
    permission: "suppressions:write",
    parameter: "import",
  },
  { page: "settings/members", label: "Invite member", Icon: UserPlus, permission: "members:write" },
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
type PaletteCommand = Omit<PaletteItem, "value" | "content"> & {
  label: string;
  id?: string;
  /** Alternative search terms. */
  keywords?: readonly string[];
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
  const leaveTo = (open: () => void) => run(() => leave(open));
  const pageCommand = (
    { path, label, Icon, key }: ConsolePage,
    open: (path: string) => void,
    keywords: readonly string[],
  ): PaletteCommand => ({
    label,
    Icon,
    onSelect: () => open(path),
    keywords,
    aside: <Jump pageKey={key} />,
  });
  const pages = usePages().map((page) => pageCommand(page, go, ["go to", "open"]));
  const openDocument = (path: string) => leaveTo(() => void loadPage(path));
  const documents = DOCUMENTS.map((page) => pageCommand(page, openDocument, ["docs", "help", "openapi"]));
  const below = [
    ...SETTINGS_PAGES.map((page) => ({ ...page, section: "Settings", Icon: Settings })),
    ...(isOperator ? INSTALLATION_PAGES : []).map((page) => ({
      ...page,
      section: INSTALLATION.label,
      Icon: INSTALLATION.Icon,
    })),
  ].map(({ section, label, path, ...page }) => ({
    ...page,
    label: `${section}: ${label}`,
    onSelect: () => go(path),
  }));
  const actions: PaletteCommand[] = [
    ...CREATIONS.filter(({ permission }) => can(permission)).map(
      ({ page, label, Icon, parameter = "new" }) => {
        const onSelect = () => go(`/console/${page}`, { [parameter]: "true" });
        return { label, Icon, onSelect, keywords: ["create", "add", "new"] };
      },
    ),
    ...all
      .filter(({ teamId }) => teamId !== team?.teamId)
      .map(({ teamId: id, teamName }) => {
        const path = `${sectionOf(pathname)}?team=${encodeURIComponent(id)}`;
        const onSelect = () => leaveTo(() => void loadPage(path));
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
      onSelect: () => leaveTo(() => void signOutOfConsole()),
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

const itemOf = ({ label, id = "", keywords: _, ...command }: PaletteCommand): PaletteItem => ({
  ...command,
  value: `command ${label} ${id}`.trim(),
  content: label,
});

const Jump = ({ pageKey }: { pageKey: string }) => (
  <span className="shrink-0 max-md:hidden" aria-hidden="true">
    <Key>g</Key>
    <Key>{pageKey}</Key>
  </span>
);
