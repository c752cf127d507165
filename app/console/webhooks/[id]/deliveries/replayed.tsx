"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { cardStyle, linkStyle } from "../../../_ui/styles";
import { useConsoleHref } from "../../../_ui/team";
import { Address } from "../../../_ui/text/address";
import { useTRPC } from "../../../_ui/trpc";
import { DeliveryBadge, isInProgress } from "../../badges";

const refetchMs = 1_000;
const listedMax = 5;

type Props = { teamId: string; id: string; events: readonly string[] };

/**
 * The results of the latest replays from the list, because a filter by status hides the rows that were
 * replayed.
 */
export const Replayed = ({ teamId, id, events }: Props) => (
  <div role="status">
    {events.length > 0 ? (
      <ul aria-label="Replayed" className={`${cardStyle} mb-3 divide-y divide-line`}>
        {events.slice(0, listedMax).map((event) => (
          <li key={event} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2.5">
            <Result teamId={teamId} id={id} event={event} />
          </li>
        ))}
      </ul>
    ) : null}
  </div>
);

/** Refetches until the attempt has a result. */
function Result({ teamId, id, event }: { teamId: string; id: string; event: string }) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const { data } = useQuery(
    trpc.webhooks.delivery.queryOptions(
      { team: teamId, id, event },
      { refetchInterval: ({ state }) => (isInProgress(state.data) ? refetchMs : false) },
    ),
  );
  return (
    <>
      <span className="text-soft">Replayed</span>
      <Link href={hrefOf(`/console/webhooks/${id}/events/${event}`)} className={linkStyle}>
        {data?.type ?? "Event"}
      </Link>
      {data?.email?.recipient ? <Address>{data.email.recipient}</Address> : null}
      {data ? <DeliveryBadge of={data} /> : null}
    </>
  );
}
