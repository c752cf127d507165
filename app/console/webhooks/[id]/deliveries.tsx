"use client";

import { useQuery } from "@tanstack/react-query";
import { Inbox } from "lucide-react";
import type { WebhookEventWire } from "#server/shared/wire/webhook";
import type { Column } from "../../_ui/list/data-table";
import { SelectFilter } from "../../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../../_ui/list/list-page";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { DELIVERY_LABELS, DELIVERY_STATUSES, DeliveryBadge } from "../badges";
import { describeEvent, EVENT_NAMES } from "../events";
import { deliveryFilters } from "./delivery-filters";

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

const STATUS_OPTIONS = DELIVERY_STATUSES.map((value) => ({ value, label: DELIVERY_LABELS[value].label }));
const TYPE_OPTIONS = EVENT_NAMES.map((value) => ({ value, label: value }));

/** The event deliveries of an endpoint, newest first. */
export function Deliveries({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const state = useListState(deliveryFilters);
  const list = useQuery(
    trpc.webhooks.deliveries.queryOptions(
      { team: teamId, id, ...state.input },
      {
        ...listOptions(),
        refetchInterval: ({ state: { data } }) =>
          data?.rows.some(({ status }) => status === "pending" || status === "attempting")
            ? refetchMs.active
            : refetchMs.idle,
      },
    ),
  );
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries" className="mb-3 font-semibold text-base">
        Event deliveries
      </h2>
      <ListPage
        label="Event deliveries"
        columns={COLUMNS}
        list={list}
        state={state}
        rowHref={(row) => `/console/webhooks/${id}/events/${row.id}`}
        filterBar={
          <>
            <SelectFilter
              label="Status"
              anyLabel="Any status"
              value={state.filters.status}
              options={STATUS_OPTIONS}
              onChange={(status) => state.change({ status })}
            />
            <SelectFilter
              label="Event"
              anyLabel="Any event"
              className="md:w-60"
              value={state.filters.type}
              options={TYPE_OPTIONS}
              onChange={(type) => state.change({ type })}
            />
          </>
        }
        noMatch={{ title: "No results", text: "Event deliveries are kept for 30 days." }}
        empty={{
          icon: Inbox,
          title: "No event deliveries yet",
          text: "Send a test event or an email. The resulting event deliveries are listed here.",
        }}
      />
    </section>
  );
}
