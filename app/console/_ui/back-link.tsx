"use client";

import { ArrowLeft } from "lucide-react";
import { PageLink } from "./page-link";
import { useConsoleHref } from "./team";

/** The way back to the list that a page belongs to, in the same team. */
export function BackLink({ href, label }: { href: string; label: string }) {
  const hrefOf = useConsoleHref();
  return (
    <PageLink
      href={hrefOf(href)}
      className="mb-3 inline-flex min-h-6 items-center gap-1.5 rounded text-soft hover:text-ink max-md:min-h-11"
    >
      <ArrowLeft className="size-4" aria-hidden="true" /> {label}
    </PageLink>
  );
}
