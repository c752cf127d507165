"use client";

import { useState } from "react";

/** The limit of one API call. */
const selectedMax = 100;

export type Selection = {
  /** Something was selected since the page was opened. */
  isUsed: boolean;
  ids: ReadonlySet<string>;
  /** `isRange` selects all rows from the last selected one to this one. */
  toggle: (id: string, isRange: boolean) => void;
  /** Selects all rows of the page, or deselects them if all are selected. */
  togglePage: () => void;
  clear: () => void;
};

/**
 * The selected rows of a list. `pageIds` are the ids on the current page. `scope` identifies the list: the
 * selection is empty when it changes.
 */
export function useSelection(pageIds: readonly string[], scope: string): Selection {
  const [state, setState] = useState<{ scope: string; ids: Set<string>; last: string | null } | null>(null);
  const ids = state?.scope === scope ? state.ids : new Set<string>();
  const set = (selected: Iterable<string>, last: string | null) =>
    setState({ scope, ids: new Set([...selected].slice(0, selectedMax)), last });
  return {
    isUsed: state !== null,
    ids,
    toggle: (id, isRange) => {
      const last = state?.scope === scope ? state.last : null;
      const from = isRange && last !== null ? pageIds.indexOf(last) : -1;
      const to = pageIds.indexOf(id);
      if (from !== -1 && to !== -1) {
        const span = pageIds.slice(Math.min(from, to), Math.max(from, to) + 1);
        return set([...ids, ...span], id);
      }
      set(ids.has(id) ? [...ids].filter((each) => each !== id) : [...ids, id], id);
    },
    togglePage: () => {
      const isWhole = pageIds.every((id) => ids.has(id));
      set(isWhole ? [...ids].filter((id) => !pageIds.includes(id)) : [...ids, ...pageIds], null);
    },
    clear: () => set([], null),
  };
}
