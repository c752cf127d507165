"use client";

import type { ReactNode } from "react";
import { PageLink } from "./page-link";
import { useConsoleHref, useTeam } from "./team";

/** Leads to the overview of the page's team; to the reader's first one where the address names a team that is not theirs. */
export function HomeLink({ className, children }: { className: string; children: ReactNode }) {
  const hrefOf = useConsoleHref();
  const { team } = useTeam();
  return (
    <PageLink href={team ? hrefOf("/console") : "/console"} className={className}>
      {children}
    </PageLink>
  );
}
