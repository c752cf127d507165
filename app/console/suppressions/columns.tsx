"use client";

import Link from "next/link";
import type { SuppressionRow } from "#server/trpc/suppressions";
import { Badge } from "../_ui/badge";
import type { Column } from "../_ui/data-table";
import { linkStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { When } from "../_ui/when";
import { ORIGIN_WORDS, sayReason } from "./words";

/** What a line of the list tells of an address. */
export const SUPPRESSION_COLUMNS: readonly Column<SuppressionRow>[] = [
  {
    id: "address",
    header: "Address",
    cell: ({ address }) => (
      <span className="block truncate" title={address}>
        {address}
      </span>
    ),
  },
  {
    id: "reason",
    header: "Why",
    phone: "plain",
    isActive: true,
    cell: (row) => <Reason row={row} />,
  },
  {
    id: "since",
    header: "Since",
    width: "w-28",
    cell: ({ createdAt }) => <When at={createdAt} />,
  },
  {
    id: "origin",
    header: "Origin",
    width: "w-34",
    phone: "corner",
    cell: ({ origin, listsOnly }) =>
      listsOnly ? (
        <Badge tone="info" title="By the link in a mail: blocks only mail that offers to unsubscribe">
          Unsubscribed
        </Badge>
      ) : (
        <Badge tone={ORIGIN_WORDS[origin].tone} title={ORIGIN_WORDS[origin].means}>
          {ORIGIN_WORDS[origin].label}
        </Badge>
      ),
  },
];

function Reason({ row }: { row: SuppressionRow }) {
  const hrefOf = useConsoleHref();
  const said = sayReason(row);
  return (
    <span className="flex min-w-0 items-center gap-2 text-soft">
      <span className={`truncate ${row.reply && !row.listsOnly ? "font-mono text-xs" : ""}`} title={said}>
        {said}
      </span>
      {row.emailId ? (
        <Link
          href={hrefOf(`/console/emails/${row.emailId}`)}
          prefetch={false}
          aria-label={`The mail that showed it, to ${row.address}`}
          className={`${linkStyle} shrink-0 max-md:py-2.5`}
        >
          See the mail
        </Link>
      ) : null}
    </span>
  );
}
