"use client";

import { useQuery } from "@tanstack/react-query";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { Section } from "../../_ui/page/section";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { ExpandableList } from "./list-item";

/** The recent security events of the account. */
export function EventsSection() {
  const trpc = useTRPC();
  const events = useQuery(trpc.account.events.queryOptions());
  return (
    <Fetched by={events} loading={<SkeletonCard lines={4} />}>
      {(rows) => (
        <Section
          title="Recent security events"
          note="Kept for 90 days. If you do not recognize an event, change your password and end all other sessions."
        >
          {rows.length === 0 ? <p className="px-5 pb-5 text-soft">No events yet.</p> : null}
          <ExpandableList label="Recent security events" rows={rows} initialCount={8}>
            {({ id, what, subject, address, agent, at }) => (
              <li
                key={id}
                className="flex flex-col gap-x-6 gap-y-0.5 px-5 py-3 md:flex-row md:items-baseline md:justify-between"
              >
                <p className="min-w-0 break-words">
                  {what}
                  {subject ? <span className="text-soft"> · {subject}</span> : null}
                </p>
                <p className="shrink-0 text-soft text-xs leading-5">
                  {agent ? `${agent} · ` : ""}
                  {address ? <span className="wrap-anywhere font-mono">{address}</span> : "The operator"} ·{" "}
                  <When at={at} />
                </p>
              </li>
            )}
          </ExpandableList>
        </Section>
      )}
    </Fetched>
  );
}
