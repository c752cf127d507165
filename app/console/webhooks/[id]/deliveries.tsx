"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Inbox } from "lucide-react";
import { useQueryStates } from "nuqs";
import { useMemo } from "react";
import type { WebhookEventWire } from "#server/shared/wire/webhook";
import type { EndpointView } from "#server/trpc/webhooks/views";
import { type Column, DataTable } from "../../_ui/list/data-table";
import { Empty, NoMatch, PageGone } from "../../_ui/list/empty";
import { FilterBar, SelectFilter } from "../../_ui/list/filter-bar";
import { Pager } from "../../_ui/list/pager";
import { Fetched } from "../../_ui/page/fetched";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { DELIVERY_LABELS, DELIVERY_STATUSES, DeliveryBadge } from "../badges";
import { describeEvent, EVENT_NAMES } from "../events";
import { deliveryFilters, deliveryListInput } from "./delivery-filters";

const refetchMs = { active: 2_000, idle: 10_000 };

const COLUMNS: readonly Column<WebhookEventWire>[] = [
  {
    id: "type",
    header: "Event",
    cell: ({ type }) => (
      <span className="block truncate font-mono text-xs" title={describeEvent(type)}>
        {type}
      </span>
    ),
  },
  {
    id: "status",
    header: "Status",
    width: "w-32",
    phone: "corner",
    cell: ({ status }) => <DeliveryBadge status={status} />,
  },
  { id: "attempts", header: "Attempts", width: "w-20", align: "right", cell: ({ attempts }) => attempts },
  {
    id: "next",
    header: "Next attempt",
    width: "w-32",
    cell: ({ next_attempt_at }) =>
      next_attempt_at ? <When at={next_attempt_at} /> : <span className="text-soft">None</span>,
  },
  {
    id: "time",
    header: "Time",
    width: "w-28",
    align: "right",
    cell: ({ created_at }) => <When at={created_at} className="text-soft text-xs" />,
  },
];

/** The event deliveries of an endpoint, newest first. */
export function Deliveries({ teamId, endpoint }: { teamId: string; endpoint: EndpointView }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(deliveryFilters);
  const { data, error, refetch, isPlaceholderData } = useQuery(
    trpc.webhooks.deliveries.queryOptions(deliveryListInput(teamId, endpoint.id, filters), {
      placeholderData: keepPreviousData,
      refetchInterval: ({ state }) =>
        state.data?.rows.some(({ status }) => status === "pending" || status === "attempting")
          ? refetchMs.active
          : refetchMs.idle,
    }),
  );
  const hrefOf = useMemo(
    () =>
      ({ id }: WebhookEventWire) =>
        `/console/webhooks/${endpoint.id}/events/${id}`,
    [endpoint.id],
  );
  const isFiltered = filters.status !== null || filters.type !== null;
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries" className="mb-3 font-semibold text-base">
        Event deliveries
      </h2>
      <FilterBar>
        <SelectFilter
          label="Status"
          anyLabel="Any status"
          value={filters.status}
          options={STATUS_OPTIONS}
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
          label="Event deliveries"
          columns={COLUMNS}
          rows={data?.rows ?? NO_ROWS}
          rowHref={hrefOf}
          isLoading={!data}
          isStale={isPlaceholderData}
          empty={
            isFiltered ? (
              <NoMatch title="No results" onClear={() => void setFilters(null)}>
                <p>Event deliveries are kept for 30 days.</p>
              </NoMatch>
            ) : filters.after || filters.before ? (
              <PageGone />
            ) : (
              <Empty icon={Inbox} title="No event deliveries yet">
                <p>Send a test event or an email. The resulting event deliveries are listed here.</p>
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

const NO_ROWS: never[] = [];
const STATUS_OPTIONS = DELIVERY_STATUSES.map((value) => ({ value, label: DELIVERY_LABELS[value].label }));
const TYPE_OPTIONS = EVENT_NAMES.map((value) => ({ value, label: value }));
