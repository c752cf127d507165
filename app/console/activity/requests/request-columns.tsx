import type { CallView } from "#server/trpc/activity/activity";
import type { Column } from "../../_ui/list/data-table";
import { BreakableUrl } from "../../_ui/text/address";
import { Badge } from "../../_ui/text/badge";
import type { Tone } from "../../_ui/text/statuses";
import { When } from "../../_ui/text/when";

export const REQUEST_COLUMNS: readonly Column<CallView>[] = [
  {
    header: "Request",
    isWhole: true,
    cell: ({ method, path, rejection }) => (
      <>
        <span className="font-mono text-xs max-lg:flex lg:line-clamp-3" title={`${method} ${path}`}>
          <span className="inline-block w-14 shrink-0 font-semibold">{method}</span>{" "}
          <BreakableUrl>{path}</BreakableUrl>
        </span>
        {rejection ? (
          <span className="block whitespace-normal break-words text-soft text-xs leading-5">
            {rejection.detail}
          </span>
        ) : null}
      </>
    ),
  },
  {
    header: "Status",
    width: "w-24",
    phone: "corner",
    cell: ({ response_status }) => <ResponseStatus status={response_status} />,
  },
  {
    header: "Key",
    width: "w-52",
    cell: ({ apiKeyName }) => <span className="text-soft">{apiKeyName ?? "Deleted key"}</span>,
  },
  {
    header: "Time",
    width: "w-28",
    align: "right",
    phone: "line",
    cell: ({ created_at }) => <When at={created_at} className="text-soft text-xs" />,
  },
];

const toneOf = (status: number): Tone =>
  status >= 500 ? "bad" : status >= 400 ? "warn" : status >= 300 ? "mute" : "good";

/** The status code of a response, in its color. */
export function ResponseStatus({ status }: { status: number }) {
  return (
    <Badge tone={toneOf(status)}>
      <span className="font-mono tabular-nums">{status}</span>
    </Badge>
  );
}
