"use client";

import { useEffect, useRef, useState } from "react";
import type { Fields } from "../fields";
import type { Preview } from "../preview/use-preview";
import type { OpenTemplate } from "./use-template";

/** Delay after the last change, and after a save that did not reach the server. */
const pauseMs = 1_500;
const retryMs = 15_000;

/**
 * Saves the draft after a pause. Content with an error is not saved, nor are changes that were restored,
 * before the next edit, and changes that conflict with another version. A save that was rejected is repeated
 * after the next change only; one that did not reach the server, or that failed because the session had
 * ended, is repeated later. Returns whether the changes are about to be saved.
 */
export function useAutosave(template: OpenTemplate, preview: Preview, isPaused: boolean): boolean {
  const { isDirty, isSaving, isRestored, theirs, fields, fault } = template;
  const save = useRef(template.saveAutomatically);
  save.current = template.saveAutomatically;
  const [failed, setFailed] = useState<Fields | null>(null);
  const isValid = !preview.isStale && preview.fault === null && preview.result?.faults.length === 0;
  const wasRejected = failed === fields && fault !== null && fault.code !== null;
  const isWanted = isDirty && !isPaused && !isRestored && theirs === null && !wasRejected;
  const isDue = isWanted && isValid && !isSaving;
  const delayMs = failed === fields ? retryMs : pauseMs;
  useEffect(() => {
    if (!isDue) return;
    const timer = setTimeout(async () => {
      if ((await save.current()) === null) setFailed(fields);
    }, delayMs);
    return () => clearTimeout(timer);
  }, [isDue, fields, delayMs]);
  // A preview that is not rendered yet may still have an error, which the next one reports.
  return isWanted && (isValid || preview.isStale) && failed !== fields;
}
