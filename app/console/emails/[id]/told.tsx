"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { useEffect, useRef } from "react";
import type { ToldView } from "#server/trpc/email-views";
import { Fetched } from "../../_ui/fetched";
import { SkeletonCard } from "../../_ui/skeleton";
import { cardStyle } from "../../_ui/styles";
import { useConsoleHref, useMay } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { When } from "../../_ui/when";
import { DeliveryBadge, sayAnswer } from "../../webhooks/words";

const movesMs = 3_000;

/** Whom the mail's events were told, and what they answered. Nothing where the team has no endpoint for them. */
export function Told({
  teamId,
  emailId,
  eventCount,
}: {
  teamId: string;
  emailId: string;
  eventCount: number;
}) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const may = useMay()("webhooks:read");
  const { data, error, refetch } = useQuery(
    trpc.emails.told.queryOptions(
      { team: teamId, id: emailId },
      {
        enabled: may,
        refetchInterval: ({ state }) =>
          state.data?.some(({ status }) => status === "pending" || status === "attempting") ? movesMs : false,
      },
    ),
  );
  // What happens to the mail is told: with each new event there is more to ask for.
  const seen = useRef(eventCount);
  useEffect(() => {
    if (seen.current === eventCount) return;
    seen.current = eventCount;
    if (may) void refetch();
  }, [eventCount, may, refetch]);
  if (!may || data?.length === 0) return null;
  if (!data)
    return (
      <Fetched by={{ data, error, refetch }}>
        <SkeletonCard />
      </Fetched>
    );
  return (
    <section aria-labelledby="told" className={cardStyle}>
      <h2 id="told" className="border-line border-b px-4 py-3 font-semibold">
        Webhooks
      </h2>
      <ul className="divide-y divide-line">
        {data.map((told) => (
          <li key={told.id} className="relative flex flex-col gap-1 px-4 py-3 hover:bg-sunk">
            <div className="flex items-center justify-between gap-3">
              <Link
                href={hrefOf(`/console/webhooks/${told.webhookId}/events/${told.id}`)}
                prefetch={false}
                className="min-w-0 truncate rounded font-medium after:absolute after:inset-0 after:content-['']"
              >
                {told.type}
              </Link>
              <DeliveryBadge status={told.status} />
            </div>
            <p className="truncate font-mono text-soft text-xs" title={told.url}>
              {told.url}
            </p>
            <Answer told={told} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Answer({ told: { last, nextCallAt, attempts } }: { told: ToldView }) {
  return (
    <p className="text-soft text-xs">
      {last === null ? (
        "Not called yet"
      ) : (
        <>
          {last.statusCode === null ? `Failed: ${sayAnswer(last)}` : `Answered ${last.statusCode}`},{" "}
          <When at={last.sentAt} />
          {attempts > 1 ? `, ${attempts} calls` : ""}
        </>
      )}
      {nextCallAt ? (
        <>
          {"; next call "}
          <When at={nextCallAt} />
        </>
      ) : null}
    </p>
  );
}
