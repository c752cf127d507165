"use client";

import { Undo2 } from "lucide-react";
import { useState } from "react";
import type { SuppressionRow } from "#server/trpc/suppressions";
import { useWhyNot } from "../_ui/no-right";
import { iconButtonStyle } from "../_ui/styles";
import { RemoveSuppression } from "./remove-suppression";

/** Takes one address off the list. */
export function RemoveButton({ teamId, row }: { teamId: string; row: SuppressionRow }) {
  const [isAsked, setAsked] = useState(false);
  const why = useWhyNot()("suppressions:write", "take addresses off the list");
  const label = `Take ${row.address} off the list`;
  return (
    <>
      <button
        type="button"
        disabled={why !== undefined}
        title={why ?? "Take it off the list"}
        aria-label={label}
        onClick={() => setAsked(true)}
        className={iconButtonStyle}
      >
        <Undo2 className="size-4" aria-hidden="true" />
      </button>
      <RemoveSuppression teamId={teamId} row={row} open={isAsked} onOpenChange={setAsked} />
    </>
  );
}
