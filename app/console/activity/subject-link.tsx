"use client";

import Link from "next/link";
import type { ChangeRow } from "#server/trpc/activity-views";
import { useConsoleHref } from "../_ui/team";

/** Where the page about each kind of thing is. */
const PAGES: Record<string, (id: string) => string> = {
  key: (id) => `/console/keys/${id}`,
  domain: (id) => `/console/domains/${id}`,
  template: (id) => `/console/templates/${id}`,
  webhook: (id) => `/console/webhooks/${id}`,
  email: (id) => `/console/emails/${id}`,
  member: () => "/console/settings/members",
  team: () => "/console/settings/team",
};

/** One line in a table, as many as it needs on a phone. */
const nameStyle = "max-w-full md:inline-block md:truncate md:align-bottom max-md:break-words";
/** A column of links that are all underlined boldly would be read before everything else. */
const quietLinkStyle =
  "rounded underline decoration-line underline-offset-4 hover:text-accent hover:decoration-accent";

/** What it was done to, by the name that it had then: a link as long as it is still there. */
export function SubjectLink({ change }: { change: ChangeRow }) {
  const hrefOf = useConsoleHref();
  const { noun, subjectId, subjectName, isPresent } = change;
  const name = subjectName || subjectId;
  if (!name) return <span className="text-soft">–</span>;
  const pageOf = isPresent && subjectId ? PAGES[noun] : undefined;
  if (!pageOf || !subjectId)
    return (
      <span title={name} className={nameStyle}>
        {name}
      </span>
    );
  return (
    <Link
      href={hrefOf(pageOf(subjectId))}
      prefetch={false}
      title={name}
      className={`${nameStyle} ${quietLinkStyle}`}
    >
      {name}
    </Link>
  );
}
