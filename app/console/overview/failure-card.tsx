"use client";

import { CircleCheck } from "lucide-react";
import { STATUSES } from "#server/shared/email-words";
import type { FailureView } from "#server/trpc/overview/overview";
import { RowLink } from "../_ui/list/row-link";
import { Card } from "../_ui/page/card";
import { WholeAddress } from "../_ui/text/address";
import { StatusBadge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";

/** The most recent failed emails, with the reason. */
export const FailureCard = ({ failures }: { failures: FailureView[] }) => (
  <Card title="Recent failures">
    {failures.length === 0 ? (
      <p className="flex items-center gap-2 px-4 py-6 text-soft">
        <CircleCheck className="size-4 text-good" /> No recent failures.
      </p>
    ) : (
      <ul className="divide-y divide-line">
        {failures.map(({ id, status, recipient, reason, created_at }) => (
          <li key={id} className="relative flex flex-col gap-1 px-4 py-3 hover:bg-sunk">
            <div className="flex items-start gap-3">
              <RowLink
                to={`/console/emails/${id}`}
                className="min-w-0 rounded font-medium after:absolute after:inset-0 after:content-['']"
              >
                <WholeAddress>{recipient}</WholeAddress>
              </RowLink>
              <span className="ml-auto shrink-0">
                <StatusBadge status={status} />
              </span>
            </div>
            <p className="flex gap-3 text-soft">
              <span className="wrap-anywhere line-clamp-3" title={reason ?? undefined}>
                {reason ?? STATUSES[status].description}
              </span>
              <When at={created_at} className="ml-auto shrink-0 text-xs" />
            </p>
          </li>
        ))}
      </ul>
    )}
  </Card>
);
