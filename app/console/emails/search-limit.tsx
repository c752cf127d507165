"use client";

import { buttonStyle, cardStyle } from "../_ui/styles";
import { When } from "../_ui/text/when";

type Props = { at: string; isEmpty: boolean; onContinue: () => void };

/** Shows how far a search went before it reached its limit, with a button to continue it. */
export function SearchLimit({ at, isEmpty, onContinue }: Props) {
  return (
    <div
      role="status"
      className={`flex flex-wrap items-center justify-between gap-3 px-4 ${isEmpty ? `${cardStyle} py-10` : "mt-4"}`}
    >
      <p className="text-soft">
        {isEmpty ? "No results" : "No more results"} so far. Oldest email searched:{" "}
        <When at={at} className="text-ink" />. Older emails exist.
      </p>
      <button type="button" onClick={onContinue} className={`${buttonStyle.plain} h-9`}>
        Search older emails
      </button>
    </div>
  );
}
