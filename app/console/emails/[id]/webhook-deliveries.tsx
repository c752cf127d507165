"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { EmailEventDeliveryView } from "#server/trpc/emails/views";
import { formatNumber } from "../../_ui/format-number";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { usePolling } from "../../_ui/live";
import { Card } from "../../_ui/page/card";
import { Fetched } from "../../_ui/page/fetched";
import { TextLink } from "../../_ui/page/page-link";
import { useCan } from "../../_ui/team";
import { MessageText } from "../../_ui/text/address";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { DeliveryBadge, formatFault } from "../../webhooks/badges";

const refetchMs = 3_000;

type Props = { teamId: string; emailId: string; eventCount: number };

/** The event deliveries of an email and the responses of the endpoints. Hidden if there are none. */
export function WebhookDeliveries({ teamId, emailId, eventCount }: Props) {
  const trpc = useTRPC();
  const polling = usePolling();
  const canRead = useCan()("webhooks:read");
  const query = useQuery(
    trpc.emails.eventDeliveries.queryOptions(
      { team: teamId, id: emailId },
      {
        enabled: canRead,
        refetchInterval: ({ state }) =>
          polling(
            state.data?.rows.some(({ status }) => status === "pending" || status === "attempting")
              ? refetchMs
              : false,
          ),
      },
    ),
  );
  const { data, refetch } = query;
  // Each new event of the email can create event deliveries.
  const seen = useRef(eventCount);
  useEffect(() => {
    if (seen.current === eventCount) return;
    seen.current = eventCount;
    if (canRead) void refetch();
  }, [eventCount, canRead, refetch]);
  if (!canRead || data?.rows.length === 0) return null;
  if (!data)
    return (
      <Fetched by={query}>
        <SkeletonCard />
      </Fetched>
    );
  return (
    <Card title="Webhooks">
      <ul className="divide-y divide-line">
        {groupByEvent(data.rows).map(({ key, type, createdAt, deliveries }) => (
          <li key={key} className="py-3">
            <h3 className="flex flex-wrap items-baseline justify-between gap-x-3 px-4 font-medium">
              <span className="min-w-0 truncate">{type}</span>
              <When at={createdAt} className="shrink-0 font-normal text-soft text-xs" />
            </h3>
            <ul>
              {deliveries.map((delivery) => (
                <li key={delivery.id} className="relative flex flex-col gap-0.5 px-4 py-1.5 hover:bg-sunk">
                  <div className="flex items-center justify-between gap-3">
                    <TextLink
                      to={`/console/webhooks/${delivery.webhookId}/events/${delivery.id}`}
                      title={delivery.url}
                      className="min-w-0 truncate rounded font-mono text-soft text-xs after:absolute after:inset-0 after:content-['']"
                    >
                      {delivery.url}
                    </TextLink>
                    <DeliveryBadge of={delivery} />
                  </div>
                  <LastAttempt delivery={delivery} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      {data.hasMore ? (
        <p className="border-line border-t px-4 py-3 text-soft text-xs">
          Only the first {data.rows.length} event deliveries are shown. The page of each webhook lists all.
        </p>
      ) : null}
    </Card>
  );
}

/** One group per event, in the order of the events, with the delivery to each endpoint. */
function groupByEvent(deliveries: readonly EmailEventDeliveryView[]) {
  const groups = new Map<string, { type: string; createdAt: string; deliveries: EmailEventDeliveryView[] }>();
  for (const delivery of deliveries) {
    const key = delivery.eventId ?? delivery.id;
    const { type, createdAt } = delivery;
    const group = groups.get(key) ?? { type, createdAt, deliveries: [] };
    group.deliveries.push(delivery);
    groups.set(key, group);
  }
  return [...groups].map(([key, group]) => ({ key, ...group }));
}

const LastAttempt = ({ delivery: { last, nextCallAt, attempts } }: { delivery: EmailEventDeliveryView }) => (
  <p className="text-soft text-xs">
    {last === null ? (
      "No attempt yet"
    ) : (
      <>
        <MessageText>
          {last.statusCode === null ? `Failed: ${formatFault(last.fault)}` : `Responded ${last.statusCode}`}
        </MessageText>
        , <When at={last.sentAt} />
        {attempts > 1 ? `, ${formatNumber(attempts)} attempts` : ""}
      </>
    )}
    {nextCallAt ? (
      <>
        {"; next attempt "}
        <When isDue at={nextCallAt} />
      </>
    ) : null}
  </p>
);
