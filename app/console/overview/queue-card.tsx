"use client";

import { CircleCheck } from "lucide-react";
import Link from "next/link";
import { describeIdleQueue, formatCount, STATUSES } from "#server/shared/email-words";
import type { FailureView, QueueView } from "#server/trpc/overview/overview";
import { Card } from "../_ui/page/card";
import { useConsoleHref } from "../_ui/team";
import { StatusBadge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";

/** Emails without a final status. Each number links to the emails it counts. */
export function QueueCard({ queue }: { queue: QueueView }) {
  const hrefOf = useConsoleHref();
  const { counts, countMax, oldestAt } = queue;
  return (
    <Card title="Queue">
      <ul className="divide-y divide-line">
        {(Object.keys(counts) as (keyof typeof counts)[]).map((status) => (
          <li key={status}>
            <Link
              href={hrefOf("/console/emails", { status })}
              prefetch={false}
              title={STATUSES[status].description}
              className="flex h-10 items-center justify-between px-4 hover:bg-sunk focus-visible:-outline-offset-2"
            >
              <span className="text-soft">{STATUSES[status].label}</span>
              <span className={`tabular-nums ${counts[status] > 0 ? "font-medium" : "text-soft"}`}>
                {formatCount(counts[status], countMax)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      <p className="border-line border-t px-4 py-3 text-soft">
        {oldestAt ? (
          <>
            Oldest queued or sending: <When at={oldestAt} className="text-ink" />
          </>
        ) : (
          describeIdleQueue(counts, countMax)
        )}
      </p>
    </Card>
  );
}

/** The most recent failed emails, with the reason. */
export function FailureCard({ failures }: { failures: FailureView[] }) {
  const hrefOf = useConsoleHref();
  return (
    <Card title="Recent failures">
      {failures.length === 0 ? (
        <p className="flex items-center gap-2 px-4 py-6 text-soft">
          <CircleCheck className="size-4 text-good" aria-hidden="true" /> No recent failures.
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {failures.map(({ id, status, recipient, reason, created_at }) => (
            <li key={id} className="relative flex flex-col gap-1 px-4 py-3 hover:bg-sunk">
              <div className="flex items-center gap-3">
                <Link
                  data-row=""
                  href={hrefOf(`/console/emails/${id}`)}
                  prefetch={false}
                  className="min-w-0 truncate rounded font-medium after:absolute after:inset-0 after:content-['']"
                >
                  {recipient}
                </Link>
                <span className="ml-auto shrink-0">
                  <StatusBadge status={status} />
                </span>
              </div>
              <p className="flex gap-3 text-soft">
                <span className="min-w-0 truncate" title={reason ?? undefined}>
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
}
