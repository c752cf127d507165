"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Inbox } from "lucide-react";
import { useQueryStates } from "nuqs";
import { useMemo } from "react";
import type { EndpointView, WebhookDeliveryRow } from "#server/trpc/webhook-views";
import { type Column, DataTable } from "../../_ui/data-table";
import { Empty, NoMatch, PageGone } from "../../_ui/empty";
import { Fetched } from "../../_ui/fetched";
import { FilterBar, SelectFilter } from "../../_ui/filter-bar";
import { Pager } from "../../_ui/pager";
import { useTRPC } from "../../_ui/trpc";
import { When } from "../../_ui/when";
import { EVENT_NAMES, sayEvent } from "../events";
import { DELIVERY_STATUSES, DELIVERY_WORDS, DeliveryBadge } from "../words";
import { deliveryFilters, deliveryListInput } from "./delivery-filters";

const askAgainMs = { moving: 2_000, still: 10_000 };

const COLUMNS: readonly Column<WebhookDeliveryRow>[] = [
  {
    id: "type",
    header: "Event",
    cell: ({ type }) => (
      <span className="block truncate font-mono text-xs" title={sayEvent(type)}>
        {type}
      </span>
    ),
  },
  {
    id: "status",
    header: "State",
    width: "w-32",
    phone: "corner",
    cell: ({ status }) => <DeliveryBadge status={status} />,
  },
  { id: "attempts", header: "Calls", width: "w-20", align: "right", cell: ({ attempts }) => attempts },
  {
    id: "next",
    header: "Next call",
    width: "w-32",
    cell: ({ nextAttemptAt }) =>
      nextAttemptAt ? <When at={nextAttemptAt} /> : <span className="text-soft">None</span>,
  },
  {
    id: "time",
    header: "Time",
    width: "w-28",
    align: "right",
    cell: ({ createdAt }) => <When at={createdAt} className="text-soft text-xs" />,
  },
];

/** What an endpoint was and will be told, newest first. */
export function Deliveries({ teamId, endpoint }: { teamId: string; endpoint: EndpointView }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(deliveryFilters);
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.webhooks.deliveries.queryOptions(deliveryListInput(teamId, endpoint.id, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        state.data?.rows.some(({ status }) => status === "pending" || status === "attempting")
          ? askAgainMs.moving
          : askAgainMs.still,
    }),
  );
  const hrefOf = useMemo(
    () =>
      ({ id }: WebhookDeliveryRow) =>
        `/console/webhooks/${endpoint.id}/events/${id}`,
    [endpoint.id],
  );
  const isFiltered = filters.status !== null || filters.type !== null;
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries" className="mb-3 font-semibold text-base">
        Events
      </h2>
      <FilterBar>
        <SelectFilter
          label="State"
          anyLabel="Any state"
          value={filters.status}
          options={STATE_OPTIONS}
          onChange={(status) => void setFilters({ status, after: null, before: null })}
        />
        <SelectFilter
          label="Event"
          anyLabel="Any event"
          className="md:w-60"
          value={filters.type}
          options={TYPE_OPTIONS}
          onChange={(type) => void setFilters({ type, after: null, before: null })}
        />
      </FilterBar>
      <Fetched by={{ data, error, refetch }}>
        <DataTable
          label="Events of the webhook"
          columns={COLUMNS}
          rows={data?.rows ?? NONE}
          rowHref={hrefOf}
          isLoading={!data}
          isStale={isPlaceholderData}
          empty={
            isFiltered ? (
              <NoMatch title="No such event" onClear={() => void setFilters(null)}>
                <p>Events are kept for thirty days.</p>
              </NoMatch>
            ) : filters.after || filters.before ? (
              <PageGone />
            ) : (
              <Empty icon={Inbox} title="No event yet">
                <p>Send a test event, or a mail: what the webhook is told of stands here.</p>
              </Empty>
            )
          }
        />
      </Fetched>
      {data ? (
        <Pager page={data} at={filters} onMove={(to) => void setFilters(to, { history: "push" })} />
      ) : null}
    </section>
  );
}

const NONE: never[] = [];
const STATE_OPTIONS = DELIVERY_STATUSES.map((value) => ({ value, label: DELIVERY_WORDS[value].label }));
const TYPE_OPTIONS = EVENT_NAMES.map((value) => ({ value, label: value }));
