"use client";

import type { ReactNode } from "react";
import { PageLink } from "../page/page-link";
import { useConsoleHref, useTeam } from "../team";

/** A link to the overview of the current team, or of the user's first team if the URL names one they are not in. */
export function HomeLink({ className, children }: { className: string; children: ReactNode }) {
  const hrefOf = useConsoleHref();
  const { team } = useTeam();
  return (
    <PageLink href={team ? hrefOf("/console") : "/console"} className={className}>
      {children}
    </PageLink>
  );
}
