import type { Fields } from "./fields";

/** Text that was not saved yet, and the revision that it began from. */
export type Unsaved = { revision: number; fields: Fields };

const unsavedKey = (id: string) => `posthorn.template.${id}.unsaved`;
const samplesKey = (id: string) => `posthorn.template.${id}.samples`;

// A browser may refuse all storage; then nothing is kept, and nothing else is lost.
function attempt<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}

/** Keeps unsaved text over a reload, a lost session and signing in again, for as long as the tab lives. Null forgets it. */
export function keepUnsaved(id: string, unsaved: Unsaved | null): void {
  attempt(() =>
    unsaved
      ? sessionStorage.setItem(unsavedKey(id), JSON.stringify(unsaved))
      : sessionStorage.removeItem(unsavedKey(id)),
  );
}

export function readUnsaved(id: string): Unsaved | null {
  const read = attempt(() => JSON.parse(sessionStorage.getItem(unsavedKey(id)) ?? "null") as Unsaved | null);
  return read && typeof read.revision === "number" && typeof read.fields?.html === "string" ? read : null;
}

/** Values to look at a template with. They are one person's, and stay in their browser. */
export type Samples = Record<string, string>;

export function keepSamples(id: string, samples: Samples): void {
  attempt(() => localStorage.setItem(samplesKey(id), JSON.stringify(samples)));
}

export function readSamples(id: string): Samples {
  const read = attempt(() => JSON.parse(localStorage.getItem(samplesKey(id)) ?? "{}") as unknown);
  if (typeof read !== "object" || read === null) return {};
  return Object.fromEntries(
    Object.entries(read).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
