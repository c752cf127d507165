import type { EndpointView } from "#server/trpc/webhooks/views";
import type { Column } from "../_ui/list/data-table";
import { When } from "../_ui/text/when";
import { EndpointBadge, ResponseBadge } from "./badges";
import { BreakableUrl } from "./breakable-url";
import { formatEvents } from "./events";

/** The columns of the endpoint list. */
export const ENDPOINT_COLUMNS: readonly Column<EndpointView>[] = [
  {
    id: "url",
    header: "URL",
    width: "w-[34%]",
    cell: ({ endpoint }) => (
      <span className="block font-mono text-xs md:truncate" title={endpoint}>
        <BreakableUrl>{endpoint}</BreakableUrl>
      </span>
    ),
  },
  {
    id: "events",
    header: "Events",
    width: "w-32",
    cell: ({ events }) => <span title={events.join(", ")}>{formatEvents(events)}</span>,
  },
  {
    id: "response",
    header: "Last response",
    cell: ({ lastResponse }) =>
      lastResponse ? (
        <span className="inline-flex max-w-full items-center gap-2">
          <ResponseBadge of={lastResponse} />
          <When at={lastResponse.sent_at} className="text-soft text-xs" />
        </span>
      ) : (
        <span className="text-soft">None yet</span>
      ),
  },
  {
    id: "pending",
    header: "Pending",
    width: "w-24",
    cell: (endpoint) => <span className="tabular-nums">{formatPending(endpoint)}</span>,
  },
  {
    id: "status",
    header: "Status",
    width: "w-36",
    phone: "corner",
    cell: (endpoint) => <EndpointBadge of={endpoint} />,
  },
];

/** The number of pending events; "n+" if there are more than were counted. */
export const formatPending = ({
  waiting,
  isWaitingAtLeast,
}: Pick<EndpointView, "waiting" | "isWaitingAtLeast">): string =>
  isWaitingAtLeast ? `${waiting}+` : String(waiting);
