"use client";

import Link from "next/link";
import type { SuppressionRow } from "#server/trpc/suppressions/suppressions";
import type { Column } from "../_ui/list/data-table";
import { linkStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { WholeAddress } from "../_ui/text/address";
import { type Label, LabelBadge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";
import type { Origin } from "./filters";
import { RemoveSuppression } from "./remove-suppression";

/** The origin of a suppression: label, tooltip and badge color. */
export const ORIGIN_LABELS: Record<Origin, Label> = {
  bounce: {
    label: "Bounced",
    tone: "bad",
    description: "Its mail server rejected the address permanently.",
  },
  complaint: {
    label: "Complained",
    tone: "warn",
    description: "The recipient marked an email as spam.",
  },
  manual: { label: "Manual", tone: "mute", description: "Added manually." },
};
const UNSUBSCRIBED: Label = {
  label: "Unsubscribed",
  tone: "info",
  description: "Used the unsubscribe link. Blocks only email with an unsubscribe link.",
};

/** The columns of the suppression list. */
export const suppressionColumns = (teamId: string): readonly Column<SuppressionRow>[] => [
  {
    id: "address",
    header: "Address",
    width: "w-[36%]",
    cell: ({ email }) => <WholeAddress>{email}</WholeAddress>,
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
    isWide: true,
    width: "w-28",
    cell: ({ created_at }) => <When at={created_at} />,
  },
  {
    id: "origin",
    header: "Origin",
    width: "w-34",
    phone: "corner",
    cell: ({ origin, lists_only }) => <LabelBadge {...(lists_only ? UNSUBSCRIBED : ORIGIN_LABELS[origin])} />,
  },
  {
    id: "remove",
    header: "Remove",
    isHeaderHidden: true,
    isActive: true,
    width: "w-26",
    align: "right",
    phone: "plain",
    cell: (row) => <RemoveSuppression teamId={teamId} row={row} />,
  },
];

/** Why the address is suppressed, in one sentence or by the reply of its mail server. */
function Reason({ row: { email, origin, lists_only, source_id, source } }: { row: SuppressionRow }) {
  const hrefOf = useConsoleHref();
  const reply = lists_only ? null : source?.reply;
  // For an address added manually, the column Origin is the whole reason.
  if (origin === "manual" && !lists_only && !reply && !source)
    return <span className="text-soft max-lg:hidden">–</span>;
  const reason = lists_only
    ? "The recipient unsubscribed. Email without an unsubscribe link is still sent."
    : (reply ?? ORIGIN_LABELS[origin].description);
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-3 text-soft">
      <span
        className={`wrap-anywhere line-clamp-4 grow basis-48 ${reply ? "font-mono text-xs" : ""}`}
        title={reason}
      >
        {reason}
      </span>
      {source ? (
        <Link
          href={hrefOf(`/console/emails/${source_id}`)}
          prefetch={false}
          aria-label={`View email to ${email}`}
          className={`${linkStyle} shrink-0 max-md:py-2.5`}
        >
          View email
        </Link>
      ) : null}
    </span>
  );
}
