"use client";

import type { EmailRow } from "#server/trpc/emails/views";
import { cardStyle } from "../_ui/styles";
import { EmailLine } from "./email-row";
import { ColumnHeaders } from "./list-frame";
import type { Selection } from "./selection";

type Props = { rows: readonly EmailRow[]; selection: Selection; isStale: boolean };

/** The emails as selectable rows that link to them. The `x` key selects the focused row. */
export function EmailRows({ rows, selection, isStale }: Props) {
  const selectedCount = rows.filter(({ id }) => selection.ids.has(id)).length;
  return (
    <div className={`${cardStyle} relative overflow-hidden ${isStale ? "opacity-60" : ""}`}>
      <label className="absolute top-0 left-0 z-1 hidden h-10 w-11 cursor-pointer items-center justify-center md:flex">
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
