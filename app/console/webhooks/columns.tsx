import type { EndpointView } from "#server/trpc/webhook-views";
import { Badge } from "../_ui/badge";
import type { Column } from "../_ui/data-table";
import { When } from "../_ui/when";
import { sayEvents } from "./events";
import { ShownUrl } from "./shown-url";
import { EndpointBadge, sayAnswer, toneOfAnswer } from "./words";

/** What a line of the list tells of an endpoint. */
export const ENDPOINT_COLUMNS: readonly Column<EndpointView>[] = [
  {
    id: "url",
    header: "Address",
    width: "w-[34%]",
    cell: ({ url }) => (
      <span className="block font-mono text-xs md:truncate" title={url}>
        <ShownUrl>{url}</ShownUrl>
      </span>
    ),
  },
  {
    id: "events",
    header: "Is told of",
    width: "w-32",
    cell: ({ events }) => <span title={events.join(", ")}>{sayEvents(events)}</span>,
  },
  {
    id: "answer",
    header: "Last answer",
    cell: ({ lastAnswer }) =>
      lastAnswer ? (
        <span className="inline-flex max-w-full items-center gap-2">
          <Badge tone={toneOfAnswer(lastAnswer)}>{sayAnswer(lastAnswer)}</Badge>
          <When at={lastAnswer.sentAt} className="text-soft text-xs" />
        </span>
      ) : (
        <span className="text-soft">None yet</span>
      ),
  },
  {
    id: "waiting",
    header: "Waiting",
    width: "w-24",
    cell: (endpoint) => <span className="tabular-nums">{sayWaiting(endpoint)}</span>,
  },
  {
    id: "status",
    header: "State",
    width: "w-36",
    phone: "corner",
    cell: (endpoint) => <EndpointBadge of={endpoint} />,
  },
];

/** How many events wait for an endpoint, as far as they are counted. */
export const sayWaiting = ({
  waiting,
  isWaitingAtLeast,
}: Pick<EndpointView, "waiting" | "isWaitingAtLeast">): string =>
  isWaitingAtLeast ? `${waiting}+` : String(waiting);
