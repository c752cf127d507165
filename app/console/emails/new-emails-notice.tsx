"use client";

import { ArrowUp } from "lucide-react";
import { buttonStyle } from "../_ui/styles";
import type { EmailFilters } from "./filters";
import { useNewerCount } from "./list-anchor";

type Props = { teamId: string; filters: EmailFilters; anchor: string | null; onShow: () => void };

/**
 * A notice with the number of new emails while the list is held in place. The user clicks it to show them. It neither
 * covers nor shifts the list.
 */
export function NewEmailsNotice({ teamId, filters, anchor, onShow }: Props) {
  const count = useNewerCount(teamId, filters, anchor);
  return (
    <div aria-live="polite" className="pointer-events-none sticky top-2 z-10 -mb-9 flex h-9 justify-center">
      {count === null ? null : (
        <button
          type="button"
          onClick={onShow}
          className={`${buttonStyle.primary} pointer-events-auto h-8 -translate-y-3 rounded-full text-xs shadow-md`}
        >
          <ArrowUp className="size-3.5" aria-hidden="true" /> {count} new
        </button>
      )}
    </div>
  );
}
