import {
  Ban,
  BookOpen,
  Gauge,
  Globe,
  History,
  KeyRound,
  LayoutTemplate,
  type LucideIcon,
  Mail,
  Settings,
  Webhook,
} from "lucide-react";

export type ConsolePage = {
  path: string;
  label: string;
  Icon: LucideIcon;
  /** Pressed after `g`, it leads there. */
  key: string;
};

/** The console's pages, in the order in which people need them. Navigation, palette and keys read this one table. */
export const PAGES: readonly ConsolePage[] = [
  { path: "/console", label: "Overview", Icon: Gauge, key: "o" },
  { path: "/console/emails", label: "Emails", Icon: Mail, key: "e" },
  { path: "/console/templates", label: "Templates", Icon: LayoutTemplate, key: "t" },
  { path: "/console/domains", label: "Domains", Icon: Globe, key: "d" },
  { path: "/console/keys", label: "API keys", Icon: KeyRound, key: "k" },
  { path: "/console/webhooks", label: "Webhooks", Icon: Webhook, key: "w" },
  { path: "/console/suppressions", label: "Suppressions", Icon: Ban, key: "s" },
  { path: "/console/activity", label: "Activity", Icon: History, key: "a" },
  { path: "/console/settings", label: "Settings", Icon: Settings, key: "," },
];

/** Outside of the console, and loaded whole: its styles are a library's and must not stay behind. */
export const REFERENCE: ConsolePage = { path: "/docs", label: "API reference", Icon: BookOpen, key: "r" };

/** The overview is only itself; every other page is also what lies below it. */
export const isWithin = (pathname: string, path: string): boolean =>
  pathname === path || (path !== "/console" && pathname.startsWith(`${path}/`));

/** The page that an address belongs to, which every team has: where a switch of the team leads. */
export const sectionOf = (pathname: string): string =>
  PAGES.find(({ path }) => isWithin(pathname, path))?.path ?? "/console";
