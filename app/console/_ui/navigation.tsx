"use client";

import { BookOpen, Globe, LayoutTemplate, Mail } from "lucide-react";
import Link from "next/link";
import { usePathname } from "next/navigation";
import { useConsoleHref } from "./team";

const PAGES = [
  { path: "/console/emails", label: "Emails", Icon: Mail },
  { path: "/console/templates", label: "Templates", Icon: LayoutTemplate },
  { path: "/console/domains", label: "Domains", Icon: Globe },
] as const;

/** The console's pages, in the team of the one that is open, and the API reference. */
export function Navigation() {
  const pathname = usePathname();
  const hrefOf = useConsoleHref();
  return (
    <nav aria-label="Console" className="flex gap-1 md:flex-col">
      {PAGES.map(({ path, label, Icon }) => {
        const isHere = pathname === path || pathname.startsWith(`${path}/`);
        return (
          <Link
            key={path}
            href={hrefOf(path)}
            {...(isHere ? { "aria-current": "page" as const } : {})}
            className={`flex h-9 items-center gap-2.5 rounded-lg px-2.5 font-medium motion-safe:transition-colors ${
              isHere ? "bg-mute-tint text-ink" : "text-soft hover:bg-mute-tint hover:text-ink"
            }`}
          >
            <Icon className="size-4" aria-hidden="true" />
            {label}
          </Link>
        );
      })}
      {/* Loaded whole, since its styles are a library's and must not stay behind in the console. */}
      <a
        href="/docs"
        className="flex h-9 items-center gap-2.5 rounded-lg px-2.5 font-medium text-soft hover:bg-mute-tint hover:text-ink motion-safe:transition-colors"
      >
        <BookOpen className="size-4" aria-hidden="true" />
        API reference
      </a>
    </nav>
  );
}
