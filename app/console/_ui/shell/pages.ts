import {
  Ban,
  BookOpen,
  Braces,
  Gauge,
  Globe,
  History,
  KeyRound,
  LayoutTemplate,
  type LucideIcon,
  Mail,
  Server,
  Settings,
  Webhook,
} from "lucide-react";

export type ConsolePage = {
  path: string;
  label: string;
  Icon: LucideIcon;
  /** The key that opens the page after `g`. */
  key: string;
};

/** The pages of the console. Navigation, palette and keyboard shortcuts all read this table. */
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

/** Only for operators of the installation. */
export const INSTALLATION: ConsolePage = {
  path: "/console/installation",
  label: "Installation",
  Icon: Server,
  key: "i",
};

/** The pages of the settings: those of the user first, then those of the team. */
export const SETTINGS_PAGES = [
  { path: "/console/settings/profile", label: "Profile", keywords: ["name", "email address"] },
  {
    path: "/console/settings/security",
    label: "Security",
    keywords: ["password", "2fa", "passkeys", "sessions"],
  },
  { path: "/console/settings/team", label: "Team", keywords: ["retention", "delete", "create"] },
  {
    path: "/console/settings/members",
    label: "Members",
    keywords: ["people", "users", "invitations", "roles"],
  },
  { path: "/console/settings/personal-data", label: "Personal data", keywords: ["gdpr", "erase", "export"] },
] as const;

/** The pages of the installation, only for operators. */
export const INSTALLATION_PAGES = [
  { path: "/console/installation", label: "Status" },
  { path: "/console/installation/alerts", label: "Alerts" },
  { path: "/console/installation/doctor", label: "Doctor" },
  { path: "/console/installation/relays", label: "Relays" },
  { path: "/console/installation/destinations", label: "Destinations" },
  { path: "/console/installation/replies", label: "Reply rules" },
  { path: "/console/installation/queues", label: "Queues" },
  { path: "/console/installation/teams", label: "Teams" },
] as const;

/** Outside the console. They need a full page load: their styles must not stay active on console pages. */
export const DOCUMENTS: readonly ConsolePage[] = [
  { path: "/docs", label: "Guides", Icon: BookOpen, key: "h" },
  { path: "/docs/api", label: "API reference", Icon: Braces, key: "r" },
];

/**
 * Whether a path belongs to a page. The overview matches only its own path; other pages also match paths
 * below them.
 */
export const isWithin = (pathname: string, path: string): boolean =>
  pathname === path || (path !== "/console" && pathname.startsWith(`${path}/`));

/** The top-level page of a path. It exists in every team, so switching teams opens it. */
export const sectionOf = (pathname: string): string =>
  [...PAGES, INSTALLATION].find(({ path }) => isWithin(pathname, path))?.path ?? "/console";
