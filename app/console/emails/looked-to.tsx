"use client";

import { buttonStyle, cardStyle } from "../_ui/styles";
import { When } from "../_ui/when";

type Props = { at: string; isEmpty: boolean; onGoOn: () => void };

/** Where a search stopped before all mail was looked through, and the way on. */
export function LookedTo({ at, isEmpty, onGoOn }: Props) {
  return (
    <div
      role="status"
      className={`flex flex-wrap items-center justify-between gap-3 px-4 ${isEmpty ? `${cardStyle} py-10` : "mt-4"}`}
    >
      <p className="text-soft">
        {isEmpty ? "Nothing found" : "Nothing more found"} among the mail since{" "}
        <When at={at} className="text-ink" />. There is older mail that was not looked through yet.
      </p>
      <button type="button" onClick={onGoOn} className={`${buttonStyle.plain} h-9`}>
        Search further back
      </button>
    </div>
  );
}
