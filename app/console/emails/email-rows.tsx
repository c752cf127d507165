"use client";

import { useState } from "react";
import type { EmailRow } from "#server/trpc/emails/views";
import { RowLink } from "../_ui/list/row-link";
import { cardStyle } from "../_ui/styles";
import { WholeAddress } from "../_ui/text/address";
import { StatusBadge } from "../_ui/text/badge";
import { When } from "../_ui/text/when";

/** The grid columns of the header and of the rows. */
const columnsStyle =
  "grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 pr-4 pl-11 lg:grid-cols-[7.5rem_minmax(0,1fr)_minmax(0,1fr)_5.5rem] xl:grid-cols-[7.5rem_minmax(0,1fr)_minmax(0,1fr)_minmax(0,9rem)_5.5rem]";

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
  const { keyName, to, cc, bcc, suppressed } = row;
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
        to={`/console/emails/${row.id}`}
        onKeyDown={(event) => {
          if (event.key.toLowerCase() === "x" && !event.ctrlKey && !event.metaKey && !event.altKey)
            onSelect(event.shiftKey);
        }}
        className={`${columnsStyle} min-h-19 py-3 motion-safe:transition-colors hover:bg-sunk focus-visible:bg-sunk focus-visible:-outline-offset-2 lg:min-h-13 lg:py-2`}
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

/** The limit of one API call. */
const selectedMax = 100;

export type Selection = ReturnType<typeof useSelection>;

/**
 * The selected rows of a list. `pageIds` are the ids on the current page. `scope` identifies the list: the
 * selection is empty when it changes.
 */
export function useSelection(pageIds: readonly string[], scope: string) {
  const [state, setState] = useState<{ scope: string; ids: Set<string>; last: string | null } | null>(null);
  const ids = state?.scope === scope ? state.ids : new Set<string>();
  const set = (selected: Iterable<string>, last: string | null) =>
    setState({ scope, ids: new Set([...selected].slice(0, selectedMax)), last });
  return {
    /** Something was selected since the page was opened. */
    isUsed: state !== null,
    ids: ids as ReadonlySet<string>,
    /** `isRange` selects all rows from the last selected one to this one. */
    toggle: (id: string, isRange: boolean) => {
      const last = state?.scope === scope ? state.last : null;
      const from = isRange && last !== null ? pageIds.indexOf(last) : -1;
      const to = pageIds.indexOf(id);
      if (from !== -1 && to !== -1) {
        const span = pageIds.slice(Math.min(from, to), Math.max(from, to) + 1);
        return set([...ids, ...span], id);
      }
      set(ids.has(id) ? [...ids].filter((each) => each !== id) : [...ids, id], id);
    },
    /** Selects all rows of the page, or deselects them if all are selected. */
    togglePage: () => {
      const isWhole = pageIds.every((id) => ids.has(id));
      set(isWhole ? [...ids].filter((id) => !pageIds.includes(id)) : [...ids, ...pageIds], null);
    },
    clear: () => set([], null),
  };
}
