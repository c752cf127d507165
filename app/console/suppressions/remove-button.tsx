"use client";

import { X } from "lucide-react";
import { useState } from "react";
import type { SuppressionRow } from "#server/trpc/suppressions";
import { ActButton } from "../_ui/act-button";
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
      <ActButton
        whyNot={why}
        title="Take it off the list"
        aria-label={label}
        onClick={() => setAsked(true)}
        className={`${iconButtonStyle} max-md:w-auto max-md:gap-2 max-md:pr-2`}
      >
        <X className="size-4" aria-hidden="true" />
        <span className="md:hidden">Take it off the list</span>
      </ActButton>
      <RemoveSuppression teamId={teamId} row={row} open={isAsked} onOpenChange={setAsked} />
    </>
  );
}
