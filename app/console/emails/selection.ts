"use client";

import { useState } from "react";

/** As many as one call takes. */
export const selectedMax = 100;

export type Selection = {
  ids: ReadonlySet<string>;
  /** `isRange` takes all from the one that was chosen last up to this one. */
  toggle: (id: string, isRange: boolean) => void;
  /** All of the page, or none where all of it is chosen already. */
  togglePage: () => void;
  clear: () => void;
};

/** Which rows of a list are chosen. `ids` are those of the page that is shown; `scope` names the list: another has none chosen. */
export function useSelection(shown: readonly string[], scope: string): Selection {
  const [state, setState] = useState({ scope, ids: new Set<string>(), last: null as string | null });
  const ids = state.scope === scope ? state.ids : new Set<string>();
  const set = (chosen: Iterable<string>, last: string | null) =>
    setState({ scope, ids: new Set([...chosen].slice(0, selectedMax)), last });
  return {
    ids,
    toggle: (id, isRange) => {
      const from = isRange && state.scope === scope && state.last !== null ? shown.indexOf(state.last) : -1;
      const to = shown.indexOf(id);
      if (from !== -1 && to !== -1) {
        const span = shown.slice(Math.min(from, to), Math.max(from, to) + 1);
        return set([...ids, ...span], id);
      }
      set(ids.has(id) ? [...ids].filter((each) => each !== id) : [...ids, id], id);
    },
    togglePage: () => {
      const isWhole = shown.every((id) => ids.has(id));
      set(isWhole ? [...ids].filter((id) => !shown.includes(id)) : [...ids, ...shown], null);
    },
    clear: () => set([], null),
  };
}
