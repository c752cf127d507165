"use client";

import Link from "next/link";
import type { SuppressionRow } from "#server/trpc/suppressions/suppressions";
import type { Column } from "../_ui/list/data-table";
import { linkStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { Badge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";
import { formatReason, ORIGIN_LABELS } from "./labels";

/** The columns of the suppression list. */
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
    header: "Reason",
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
        <Badge tone="info" title="Used the unsubscribe link. Blocks only email with an unsubscribe link.">
          Unsubscribed
        </Badge>
      ) : (
        <Badge tone={ORIGIN_LABELS[origin].tone} title={ORIGIN_LABELS[origin].description}>
          {ORIGIN_LABELS[origin].label}
        </Badge>
      ),
  },
];

function Reason({ row }: { row: SuppressionRow }) {
  const hrefOf = useConsoleHref();
  const reason = formatReason(row);
  return (
    <span className="flex min-w-0 items-center gap-2 text-soft">
      <span className={`truncate ${row.reply && !row.listsOnly ? "font-mono text-xs" : ""}`} title={reason}>
        {reason}
      </span>
      {row.emailId ? (
        <Link
          href={hrefOf(`/console/emails/${row.emailId}`)}
          prefetch={false}
          aria-label={`View email to ${row.address}`}
          className={`${linkStyle} shrink-0 max-md:py-2.5`}
        >
          View email
        </Link>
      ) : null}
    </span>
  );
}
