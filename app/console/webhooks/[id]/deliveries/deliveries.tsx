"use client";

import { useQuery } from "@tanstack/react-query";
import { Inbox } from "lucide-react";
import { useState } from "react";
import { STATUSES } from "#server/shared/email-words";
import type { DeliveryRow, EndpointView } from "#server/trpc/webhooks/views";
import { formatNumber } from "../../../_ui/format-number";
import { type Column, MENU_COLUMN } from "../../../_ui/list/data-table";
import { SelectFilter } from "../../../_ui/list/filter-bar";
import { ListPage, listOptions, useListState } from "../../../_ui/list/list-page";
import { useActivePolling } from "../../../_ui/live";
import { WholeAddress } from "../../../_ui/text/address";
import { When } from "../../../_ui/text/when";
import { useTRPC } from "../../../_ui/trpc";
import { DELIVERY_LABELS, DELIVERY_STATUSES, DeliveryBadge, isInProgress, TestBadge } from "../../badges";
import { describeEvent, EVENT_NAMES } from "../../events";
import { deliveryFilters } from "./delivery-filters";
import { ReplayButton } from "./replay-button";
import { Replayed } from "./replayed";

const COLUMNS: readonly Column<DeliveryRow>[] = [
  {
    header: "Event",
    cell: ({ type, isTest, created_at }) => (
      <span className="block min-w-0">
        <span className="flex min-w-0 items-center gap-2">
          <span className="truncate font-mono text-xs" title={describeEvent(type)}>
            {type}
          </span>
          {isTest ? <TestBadge /> : null}
        </span>
        <When at={created_at} className="font-normal text-soft text-xs" />
      </span>
    ),
  },
  { header: "Email", width: "w-[36%]", phone: "plain", cell: (row) => <EmailCell row={row} /> },
  {
    header: "Status",
    width: "w-48",
    phone: "plain",
    cell: ({ status, attempts, next_attempt_at }) => (
      <span className="block min-w-0">
        <DeliveryBadge of={{ status, attempts }} />
        <span className="block truncate text-soft text-xs">
          {formatNumber(attempts)} {attempts === 1 ? "attempt" : "attempts"}
          {next_attempt_at ? (
            <>
              {", next "}
              <When isDue at={next_attempt_at} />
            </>
          ) : null}
        </span>
      </span>
    ),
  },
];

/** Recipient, current status and subject of the email of an event. */
function EmailCell({ row: { hasEmail, email } }: { row: DeliveryRow }) {
  if (!hasEmail) return <span className="text-soft">None</span>;
  if (email === null) return <span className="text-soft">No longer retained</span>;
  return (
    <span className="block min-w-0">
      {email.recipient ? <WholeAddress>{email.recipient}</WholeAddress> : "No recipient"}
      <span className="block truncate text-soft text-xs" title={email.subject}>
        <span>{STATUSES[email.status].label}</span>
        {" · "}
        <span>{email.subject ? `“${email.subject}”` : "(no subject)"}</span>
      </span>
    </span>
  );
}

const STATUS_OPTIONS = DELIVERY_STATUSES.map((value) => ({ value, label: DELIVERY_LABELS[value].label }));
const TYPE_OPTIONS = EVENT_NAMES.map((value) => ({ value, label: value }));

/**
 * The event deliveries of an endpoint, newest first. Failed ones are replayed here, and their results are
 * listed above.
 */
export function Deliveries({ teamId, endpoint }: { teamId: string; endpoint: EndpointView }) {
  const { id } = endpoint;
  const trpc = useTRPC();
  const refetchInterval = useActivePolling<{ rows: DeliveryRow[] }>(
    ({ rows }) => rows.some(isInProgress),
    2_000,
    10_000,
  );
  const [replayed, setReplayed] = useState<readonly string[]>([]);
  const state = useListState(deliveryFilters);
  const list = useQuery(
    trpc.webhooks.deliveries.queryOptions(
      { team: teamId, id, ...state.input },
      {
        ...listOptions(),
        refetchInterval,
      },
    ),
  );
  const columns: readonly Column<DeliveryRow>[] = [
    ...COLUMNS,
    {
      ...MENU_COLUMN,
      width: "w-28",
      cell: (row) =>
        row.status === "failed" ? (
          <ReplayButton
            isSmall
            teamId={teamId}
            endpoint={endpoint}
            delivery={row}
            onReplayed={(event) =>
              setReplayed((events) => [event, ...events.filter((each) => each !== event)])
            }
          />
        ) : null,
    },
  ];
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries" className="mb-3 font-semibold text-base">
        Event deliveries
      </h2>
      <Replayed teamId={teamId} id={id} events={replayed} />
      <ListPage
        label="Event deliveries"
        columns={columns}
        list={list}
        state={state}
        rowHref={(row) => `/console/webhooks/${id}/events/${row.id}`}
        filterBar={
          <>
            <SelectFilter label="Status" of={state} name="status" options={STATUS_OPTIONS} />
            <SelectFilter label="Event" of={state} name="type" options={TYPE_OPTIONS} className="md:w-60" />
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
