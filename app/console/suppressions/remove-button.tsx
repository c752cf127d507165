"use client";

import { X } from "lucide-react";
import { useState } from "react";
import type { SuppressionRow } from "#server/trpc/suppressions/suppressions";
import { ActionButton } from "../_ui/form/action-button";
import { useDisabledReason } from "../_ui/page/permission";
import { iconButtonStyle } from "../_ui/styles";
import { RemoveSuppression } from "./remove-suppression";

/** Removes one address from the suppression list. */
export function RemoveButton({ teamId, row }: { teamId: string; row: SuppressionRow }) {
  const [isConfirming, setConfirming] = useState(false);
  const why = useDisabledReason()("suppressions:write", "remove suppressions");
  const label = `Remove ${row.address} from the list`;
  return (
    <>
      <ActionButton
        disabledReason={why}
        title="Remove from list"
        aria-label={label}
        onClick={() => setConfirming(true)}
        className={`${iconButtonStyle} max-md:w-auto max-md:gap-2 max-md:pr-2`}
      >
        <X className="size-4" aria-hidden="true" />
        <span className="md:hidden">Remove from list</span>
      </ActionButton>
      <RemoveSuppression teamId={teamId} row={row} open={isConfirming} onOpenChange={setConfirming} />
    </>
  );
}
