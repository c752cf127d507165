"use client";

import { describeIdleQueue, formatCount, STATUSES } from "#server/shared/email-words";
import type { QueueView } from "#server/trpc/overview/overview";
import { Card } from "../_ui/page/card";
import { TextLink } from "../_ui/page/page-link";
import { When } from "../_ui/text/when";

/**
 * The statuses under which the list has the emails that a number counts. An email that is being sent keeps
 * its status until the result is recorded.
 */
const LISTED: Partial<Record<string, string>> = { sending: "sending,queued,deferred" };

/** Recipients without a final status. Each number links to their emails. */
export function QueueCard({ queue }: { queue: QueueView }) {
  const { counts, isComplete, oldestAt } = queue;
  return (
    <Card title="Queue">
      <ul className="divide-y divide-line">
        {(Object.keys(counts) as (keyof typeof counts)[]).map((status) => (
          <li key={status}>
            <TextLink
              to="/console/emails"
              parameters={{ status: LISTED[status] ?? status }}
              title={STATUSES[status].description}
              className="flex h-10 items-center justify-between px-4 hover:bg-sunk focus-visible:-outline-offset-2"
            >
              <span className="text-soft">{STATUSES[status].label}</span>
              <span className={`tabular-nums ${counts[status] > 0 ? "font-medium" : "text-soft"}`}>
                {formatCount(counts[status], isComplete)}
              </span>
            </TextLink>
          </li>
        ))}
      </ul>
      <p className="border-line border-t px-4 py-3 text-soft">
        {oldestAt ? (
          <>
            Oldest queued or sending: <When at={oldestAt} className="text-ink" />
          </>
        ) : (
          describeIdleQueue(counts, isComplete)
        )}
      </p>
    </Card>
  );
}
