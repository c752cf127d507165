"use client";

import { ArrowLeft } from "lucide-react";
import { useEffect, useState } from "react";
import { lastOpenedRow } from "../opened-row";
import { useConsoleHref } from "../team";
import { PageLink } from "./page-link";

/**
 * A link back to the parent list of a page, in the same team. If the page was opened from that list, the link
 * keeps its filters and its page. Escape follows it.
 */
export function BackLink({ href, label }: { href: string; label: string }) {
  const hrefOf = useConsoleHref();
  const [listHref, setListHref] = useState<string | null>(null);
  useEffect(() => {
    const opened = lastOpenedRow(href);
    const isFromList = opened?.row.split("?", 1)[0] === location.pathname;
    setListHref(opened && isFromList ? opened.list : null);
  }, [href]);
  return (
    <PageLink
      data-back=""
      href={listHref ?? hrefOf(href)}
      className="mb-3 inline-flex min-h-6 items-center gap-1.5 rounded text-soft hover:text-ink max-md:min-h-11 print:hidden"
    >
      <ArrowLeft className="size-4" /> {label}
    </PageLink>
  );
}
