"use client";

import { usePathname } from "next/navigation";
import { useConsoleHref } from "../team";
import { PageLink } from "./page-link";
import { tabStripStyle, useTabStrip } from "./tab-strip";

type Props = {
  /** The name of the group of pages: "Settings". */
  label: string;
  pages: readonly { path: string; label: string }[];
};

const lineStyle =
  "flex h-11 shrink-0 items-center whitespace-nowrap border-b-2 px-1 font-medium focus-visible:-outline-offset-2";

/** Navigation between related pages. It looks like tabs but consists of links: each page has its own URL. */
export function SubPages({ label, pages }: Props) {
  const pathname = usePathname();
  const hrefOf = useConsoleHref();
  const strip = useTabStrip<HTMLElement>(pages.findIndex(({ path }) => path === pathname));
  return (
    <nav ref={strip} aria-label={label} className={`mb-6 ${tabStripStyle}`}>
      {pages.map((page) => {
        const isHere = pathname === page.path;
        return (
          <PageLink
            key={page.path}
            href={hrefOf(page.path)}
            {...(isHere ? { "aria-current": "page" as const } : {})}
            className={`${lineStyle} ${isHere ? "border-accent text-ink" : "border-transparent text-soft hover:text-ink"}`}
          >
            {page.label}
          </PageLink>
        );
      })}
    </nav>
  );
}
