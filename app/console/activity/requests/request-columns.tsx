import type { CallRow } from "#server/trpc/activity-views";
import { Badge } from "../../_ui/badge";
import type { Column } from "../../_ui/data-table";
import type { Tone } from "../../_ui/statuses";
import { When } from "../../_ui/when";

export const REQUEST_COLUMNS: readonly Column<CallRow>[] = [
  {
    id: "what",
    header: "Request",
    cell: ({ method, path }) => (
      <span className="font-mono text-xs" title={`${method} ${path}`}>
        <span className="inline-block w-14 font-semibold">{method}</span> {path}
      </span>
    ),
  },
  {
    id: "status",
    header: "Status",
    width: "w-24",
    phone: "corner",
    cell: ({ status }) => <CallStatus status={status} />,
  },
  {
    id: "key",
    header: "Key",
    width: "w-52",
    cell: ({ keyName }) => <span className="text-soft">{keyName ?? "A key that is gone"}</span>,
  },
  {
    id: "when",
    header: "When",
    width: "w-28",
    align: "right",
    phone: "line",
    cell: ({ createdAt }) => <When at={createdAt} className="text-soft text-xs" />,
  },
];

const toneOf = (status: number): Tone =>
  status >= 500 ? "bad" : status >= 400 ? "warn" : status >= 300 ? "mute" : "good";

/** The status of an answer, in its colour. */
export function CallStatus({ status }: { status: number }) {
  return (
    <Badge tone={toneOf(status)}>
      <span className="font-mono tabular-nums">{status}</span>
    </Badge>
  );
}
