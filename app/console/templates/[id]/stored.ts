import type { Fields } from "./fields";

/** Unsaved changes and the revision they are based on. */
export type Unsaved = { revision: number; fields: Fields };

const unsavedKey = (id: string) => `backstamp.template.${id}.unsaved`;
const samplesKey = (id: string) => `backstamp.template.${id}.samples`;

// Browsers can block storage. The editor then works without it.
function tryStorage<T>(access: () => T): T | null {
  try {
    return access();
  } catch {
    return null;
  }
}

/** Stores unsaved changes until the tab is closed. They survive a reload and a new sign-in. Null deletes them. */
export function storeUnsaved(id: string, unsaved: Unsaved | null): void {
  tryStorage(() =>
    unsaved
      ? sessionStorage.setItem(unsavedKey(id), JSON.stringify(unsaved))
      : sessionStorage.removeItem(unsavedKey(id)),
  );
}

export function readUnsaved(id: string): Unsaved | null {
  const stored = tryStorage(
    () => JSON.parse(sessionStorage.getItem(unsavedKey(id)) ?? "null") as Unsaved | null,
  );
  return stored && typeof stored.revision === "number" && typeof stored.fields?.html === "string"
    ? stored
    : null;
}

/** Sample values for the preview, by variable name. They are stored only in the user's browser. */
export type Samples = Record<string, string>;

export function storeSamples(id: string, samples: Samples): void {
  tryStorage(() => localStorage.setItem(samplesKey(id), JSON.stringify(samples)));
}

export function readSamples(id: string): Samples {
  const stored = tryStorage(() => JSON.parse(localStorage.getItem(samplesKey(id)) ?? "{}") as unknown);
  if (typeof stored !== "object" || stored === null) return {};
  return Object.fromEntries(
    Object.entries(stored).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
