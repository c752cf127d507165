"use client";

import { useEffect, useState } from "react";
import { tryStorage } from "../../../_ui/storage";
import type { Fields, Samples } from "../fields";

/** Unsaved changes and the revision they are based on. */
type Unsaved = { revision: number; fields: Fields };

const unsavedKey = (id: string) => `backstamp.template.${id}.unsaved`;
const samplesKey = (id: string) => `backstamp.template.${id}.samples`;

/**
 * Stores unsaved changes until the tab is closed. They survive a reload and a new sign-in. Null deletes them.
 */
export function storeUnsaved(id: string, unsaved: Unsaved | null): void {
  tryStorage(() =>
    unsaved
      ? sessionStorage.setItem(unsavedKey(id), JSON.stringify(unsaved))
      : sessionStorage.removeItem(unsavedKey(id)),
  );
}

export function readUnsaved(id: string): Unsaved | null {
  const stored: Unsaved | null = tryStorage(() =>
    JSON.parse(sessionStorage.getItem(unsavedKey(id)) ?? "null"),
  );
  const isValid = typeof stored?.revision === "number" && typeof stored.fields?.html === "string";
  return isValid ? stored : null;
}

function readSamples(id: string): Samples {
  const stored: unknown = tryStorage(() => JSON.parse(localStorage.getItem(samplesKey(id)) ?? "{}"));
  return Object.fromEntries(
    Object.entries(stored ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** Stores sample values in this browser. */
export function storeSamples(id: string, samples: Samples): void {
  tryStorage(() => localStorage.setItem(samplesKey(id), JSON.stringify(samples)));
}

/** The sample values of a template, stored in this browser. Empty until hydration. */
export function useSamples(id: string) {
  const [samples, setSamples] = useState<Samples>({});
  useEffect(() => setSamples(readSamples(id)), [id]);
  const change = (key: string, value: string) => {
    const { [key]: _, ...others } = samples;
    const next = value === "" ? others : { ...others, [key]: value };
    setSamples(next);
    storeSamples(id, next);
  };
  return { samples, change };
}
