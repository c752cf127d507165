"use client";

import { useEffect, useState } from "react";
import { parseNumber, type VariableField } from "./fields";
import { readSamples, type Samples, storeSamples } from "./stored";

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

/** Converts samples to variable values. Empty samples and invalid numbers are omitted. */
export function valuesOf(
  variables: readonly VariableField[],
  samples: Samples,
): Record<string, string | number> {
  const values: Record<string, string | number> = {};
  for (const { key, type } of variables) {
    const sample = Object.hasOwn(samples, key) ? samples[key] : undefined;
    if (sample === undefined || sample === "") continue;
    const value = type === "number" ? parseNumber(sample) : sample;
    if (value !== null) values[key] = value;
  }
  return values;
}
