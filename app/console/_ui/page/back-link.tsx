"use client";

import { ArrowLeft } from "lucide-react";
import { useConsoleHref } from "../team";
import { PageLink } from "./page-link";

/** A link back to the parent list of a page, in the same team. */
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
