"use client";

import type { EmailRow } from "#server/trpc/email-views";
import { cardStyle } from "../_ui/styles";
import { EmailLine } from "./email-row";
import { ColumnNames } from "./list-frame";
import type { Selection } from "./selection";

type Props = { rows: readonly EmailRow[]; selection: Selection; isStale: boolean };

/** The mails as lines that lead to them and that can be chosen; `x` chooses the one that has the focus. */
export function EmailRows({ rows, selection, isStale }: Props) {
  const chosen = rows.filter(({ id }) => selection.ids.has(id)).length;
  return (
    <div className={`${cardStyle} relative overflow-hidden ${isStale ? "opacity-60" : ""}`}>
      <label className="absolute top-0 left-0 z-1 hidden h-10 w-11 cursor-pointer items-center justify-center md:flex">
        <input
          type="checkbox"
          ref={(box) => {
            if (box) box.indeterminate = chosen > 0 && chosen < rows.length;
          }}
          checked={chosen > 0 && chosen === rows.length}
          onChange={selection.togglePage}
          className="size-4 accent-accent"
        />
        <span className="sr-only">Choose all on this page</span>
      </label>
      <ColumnNames />
      <ul aria-label="Emails" className="divide-y divide-line">
        {rows.map((row) => (
          <EmailLine
            key={row.id}
            row={row}
            isChosen={selection.ids.has(row.id)}
            onChoose={(isRange) => selection.toggle(row.id, isRange)}
          />
        ))}
      </ul>
    </div>
  );
}
