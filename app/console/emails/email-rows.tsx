"use client";

import type { EmailRow } from "#server/trpc/emails/views";
import { RowLink } from "../_ui/list/row-link";
import { Loading, Skeleton } from "../_ui/list/skeleton";
import { cardStyle } from "../_ui/styles";
import { useConsoleHref } from "../_ui/team";
import { WholeAddress } from "../_ui/text/address";
import { StatusBadge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";
import type { Selection } from "./selection";

type Props = { rows: readonly EmailRow[]; selection: Selection; isStale: boolean };

/** The emails as selectable rows that link to them. The `x` key selects the focused row. */
export function EmailRows({ rows, selection, isStale }: Props) {
  const selectedCount = rows.filter(({ id }) => selection.ids.has(id)).length;
  return (
    <div className={`${cardStyle} relative overflow-hidden ${isStale ? "opacity-60" : ""}`}>
      <label className="absolute top-0 left-0 z-1 hidden h-10 w-11 cursor-pointer items-center justify-center lg:flex">
        <input
          type="checkbox"
          ref={(box) => {
            if (box) box.indeterminate = selectedCount > 0 && selectedCount < rows.length;
          }}
          checked={selectedCount > 0 && selectedCount === rows.length}
          onChange={selection.togglePage}
          className="size-4 accent-accent"
        />
        <span className="sr-only">Select all on this page</span>
      </label>
      <ColumnHeaders />
      <ul aria-label="Emails" className="divide-y divide-line">
        {rows.map((row) => (
          <EmailLine
            key={row.id}
            row={row}
            isSelected={selection.ids.has(row.id)}
            onSelect={(isRange) => selection.toggle(row.id, isRange)}
          />
        ))}
      </ul>
    </div>
  );
}

type LineProps = { row: EmailRow; isSelected: boolean; onSelect: (isRange: boolean) => void };

/** A row with a link to the email and a checkbox. Shift selects the range from the last selected row. */
function EmailLine({ row, isSelected, onSelect }: LineProps) {
  const hrefOf = useConsoleHref();
  const { key_name: keyName, to, cc, bcc, suppressed } = row;
  const [recipient] = to;
  const others = to.length + cc.length + bcc.length - 1;
  return (
    <li data-id={row.id} className={`relative ${isSelected ? "bg-sunk" : ""}`}>
      <label className="absolute inset-y-0 left-0 z-1 flex w-11 cursor-pointer items-center justify-center">
        <input
          type="checkbox"
          checked={isSelected}
          // Only the click event has the state of the Shift key.
          onClick={(event) => onSelect(event.shiftKey)}
          onChange={noop}
          className="size-4 accent-accent max-md:size-5"
        />
        <span className="sr-only">Select email to {recipient}</span>
      </label>
      <RowLink
        href={hrefOf(`/console/emails/${row.id}`)}
        onKeyDown={(event) => {
          if (event.key.toLowerCase() === "x" && !event.ctrlKey && !event.metaKey && !event.altKey)
            onSelect(event.shiftKey);
        }}
        className={`${columnsStyle} ${rowStyle} motion-safe:transition-colors hover:bg-sunk focus-visible:bg-sunk focus-visible:-outline-offset-2`}
      >
        <span className="max-lg:order-2 max-lg:justify-self-end">
          <StatusBadge status={row.status} />
        </span>
        <span className="min-w-0 font-medium max-lg:order-1">
          <WholeAddress>{recipient ?? ""}</WholeAddress>
          {others > 0 ? (
            <span className="font-normal text-soft">
              {" "}
              +{others}
              {suppressed > 0 ? `, ${suppressed} suppressed` : null}
            </span>
          ) : null}
        </span>
        <span className="truncate max-lg:order-3 max-lg:text-soft" title={row.subject}>
          {row.subject || <span className="text-soft">No subject</span>}
        </span>
        <span className="truncate text-soft max-xl:hidden" title={keyName ?? undefined}>
          {keyName ?? ""}
        </span>
        <When at={row.created_at} className="text-right text-soft text-xs tabular-nums max-lg:order-4" />
      </RowLink>
    </li>
  );
}

const noop = () => {};

/** The grid columns of the header, of the rows and of their placeholders. */
const columnsStyle =
  "grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 pr-4 pl-11 lg:grid-cols-[7.5rem_minmax(0,1fr)_minmax(0,1fr)_5.5rem] xl:grid-cols-[7.5rem_minmax(0,1fr)_minmax(0,1fr)_minmax(0,9rem)_5.5rem]";
/** The height of a row; two lines of text on narrow screens. */
const rowStyle = "min-h-19 py-3 lg:min-h-13 lg:py-2";

const skeletonRows = 8;

/** The column headers, on wide screens only. */
const ColumnHeaders = () => (
  <div
    aria-hidden="true"
    className={`${columnsStyle} hidden h-10 border-line border-b text-soft text-xs lg:grid`}
  >
    <span>Status</span>
    <span>Recipient</span>
    <span>Subject</span>
    <span className="max-xl:hidden">Key</span>
    <span className="text-right">Time</span>
  </div>
);

export const SkeletonRows = () => (
  <Loading className={`${cardStyle} overflow-hidden`}>
    <ColumnHeaders />
    <div className="divide-y divide-line">
      {Array.from({ length: skeletonRows }, (_, row) => `row-${row}`).map((key) => (
        <div key={key} className={`${columnsStyle} ${rowStyle}`}>
          <Skeleton className="h-3.5 w-20" />
          <Skeleton className="h-3.5 w-4/5" />
          <Skeleton className="h-3.5 w-3/5 max-lg:col-span-2" />
          <Skeleton className="h-3.5 w-1/2 max-xl:hidden" />
          <Skeleton className="ml-auto h-3.5 w-12 max-lg:hidden" />
        </div>
      ))}
    </div>
  </Loading>
);
