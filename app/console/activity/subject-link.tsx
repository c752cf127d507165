"use client";

import Link from "next/link";
import type { ChangeRow } from "#server/trpc/activity/views";
import { useConsoleHref } from "../_ui/team";

/** The page of each type of target. */
const PAGES: Record<string, (id: string) => string> = {
  key: (id) => `/console/keys/${id}`,
  domain: (id) => `/console/domains/${id}`,
  template: (id) => `/console/templates/${id}`,
  webhook: (id) => `/console/webhooks/${id}`,
  email: (id) => `/console/emails/${id}`,
  member: () => "/console/settings/members",
  team: () => "/console/settings/team",
};

/** One line in a table; on a phone the name wraps. */
const nameStyle = "max-w-full md:inline-block md:truncate md:align-bottom max-md:break-words";
/** A subtle underline: a column of prominent links would distract from the rest of the table. */
const quietLinkStyle =
  "rounded underline decoration-line underline-offset-4 hover:text-accent hover:decoration-accent";

/** The target of a change, with its name at that time. It is a link while the target exists. */
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
