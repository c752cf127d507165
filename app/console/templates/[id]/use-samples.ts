"use client";

import { useEffect, useState } from "react";
import { readNumber, type VariableField } from "./fields";
import { keepSamples, readSamples, type Samples } from "./stored";

/** The values that a template is looked at with, kept in this browser. Empty until the page is awake. */
export function useSamples(id: string) {
  const [samples, setSamples] = useState<Samples>({});
  useEffect(() => setSamples(readSamples(id)), [id]);
  const change = (key: string, value: string) => {
    const { [key]: _, ...others } = samples;
    const next = value === "" ? others : { ...others, [key]: value };
    setSamples(next);
    keepSamples(id, next);
  };
  return { samples, change };
}

/** Samples as values of these variables: one that is empty, or no number where one is due, is left out. */
export function valuesOf(
  variables: readonly VariableField[],
  samples: Samples,
): Record<string, string | number> {
  const values: Record<string, string | number> = {};
  for (const { key, type } of variables) {
    const sample = Object.hasOwn(samples, key) ? samples[key] : undefined;
    if (sample === undefined || sample === "") continue;
    const value = type === "number" ? readNumber(sample) : sample;
    if (value !== null) values[key] = value;
  }
  return values;
}
