"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { faultOf } from "../../_ui/fault";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Section } from "../../_ui/page/section";
import { FaultNote } from "../../_ui/text/notes";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { ShowMore } from "./list-item";

const initialCount = 8;

/** The recent security events of the account. */
export function EventsSection() {
  const trpc = useTRPC();
  const [isExpanded, setExpanded] = useState(false);
  const { data, error, refetch } = useQuery(trpc.account.events.queryOptions());
  if (error && !data) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonCard lines={4} />;
  const visible = isExpanded ? data : data.slice(0, initialCount);
  return (
    <Section
      title="Recent security events"
      note="Kept for 90 days. If you do not recognize an event, change your password and end all other sessions."
    >
      {data.length === 0 ? (
        <p className="px-5 pb-5 text-soft">No events yet.</p>
      ) : (
        <ol aria-label="Recent security events" className="divide-y divide-line border-line border-t">
          {visible.map(({ id, what, subject, address, agent, at }) => (
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
          ))}
        </ol>
      )}
      {data.length > visible.length ? (
        <ShowMore count={data.length - visible.length} onClick={() => setExpanded(true)} />
      ) : null}
    </Section>
  );
}
