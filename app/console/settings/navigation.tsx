"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { useConsoleHref } from "../_ui/team";

/** Pages of the settings: first what is the reader's own, then what is the team's. */
const PAGES = [
  { path: "/console/settings/profile", label: "Profile" },
  { path: "/console/settings/security", label: "Security" },
  { path: "/console/settings/team", label: "Team" },
  { path: "/console/settings/members", label: "Members" },
] as const;

const lineStyle =
  "-mb-px flex h-11 shrink-0 items-center whitespace-nowrap border-b-2 px-1 font-medium focus-visible:-outline-offset-2";

export function SettingsNavigation() {
  const pathname = usePathname();
  const hrefOf = useConsoleHref();
  return (
    <nav aria-label="Settings" className="mb-6 flex gap-5 overflow-x-auto border-line border-b">
      {PAGES.map(({ path, label }) => {
        const isHere = pathname === path;
        return (
          <Link
            key={path}
            href={hrefOf(path)}
            {...(isHere ? { "aria-current": "page" as const } : {})}
            className={`${lineStyle} ${isHere ? "border-accent text-ink" : "border-transparent text-soft hover:text-ink"}`}
          >
            {label}
          </Link>
        );
      })}
    </nav>
  );
}
