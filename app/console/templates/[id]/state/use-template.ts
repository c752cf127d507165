"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { TemplateView } from "#server/trpc/templates/templates";
import { showSuccess, showUndo } from "../../../_ui/dialog/toasts";
import { type Fault, faultOf, shownFaultOf } from "../../../_ui/fault";
import { useTRPC } from "../../../_ui/trpc";
import {
  type Base,
  baseOf,
  changeOf,
  effectiveVariables,
  type Fields,
  faultOfFallback,
  type Samples,
} from "../fields";
import { charsMax } from "../preview/use-preview";
import { readUnsaved, storeUnsaved } from "./stored";

/** Delay after the last key press before unsaved changes are stored. */
const storeMs = 400;
/** Interval of the check for changes by other users. Hidden tabs do not refetch. */
const refetchMs = 20_000;

/**
 * The state of the template editor: the loaded version, the fields, and saving. A save never overwrites a
 * newer version of another user or another tab: that version is then in `theirs`, and the user decides.
 */
export function useTemplate(teamId: string, id: string, loaded: TemplateView) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const query = trpc.templates.get.queryOptions({ team: teamId, id });
  const { data: latest = loaded } = useQuery({ ...query, refetchInterval: refetchMs });
  const save = useMutation(trpc.templates.save.mutationOptions());
  const [base, showBase] = useState<Base>(() => baseOf(loaded));
  const [fields, setFields] = useState<Fields>(base.fields);
  /** Increases each time the fields are set from outside; editors use it as their `key` to reset. */
  const [epoch, setEpoch] = useState(0);
  const [isRestored, setRestored] = useState(false);
  const [isSavedHere, setSavedHere] = useState(false);
  const [theirs, setTheirs] = useState<TemplateView | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);

  // A save reads them when it begins, which may be many renderings after it was requested.
  const current = useRef(fields);
  current.current = fields;
  const currentBase = useRef(base);
  const setBase = useCallback((next: Base) => {
    currentBase.current = next;
    showBase(next);
  }, []);
  const saving = useRef<Promise<unknown>>(Promise.resolve());
  const load = useCallback(
    (next: Base, nextFields: Fields = next.fields) => {
      setBase(next);
      // If the text is the same, the editor keeps its cursor and undo history.
      if (JSON.stringify(current.current) !== JSON.stringify(nextFields)) {
        setFields(nextFields);
        setEpoch((count) => count + 1);
      }
      setTheirs(null);
      setFault(null);
    },
    [setBase],
  );

  const isDirty = useMemo(() => Object.keys(changeOf(base.fields, fields)).length > 0, [base, fields]);

  // Restores the unsaved changes of an earlier visit, with the revision they are based on.
  const wasRestoreTried = useRef(false);
  useEffect(() => {
    if (wasRestoreTried.current) return;
    wasRestoreTried.current = true;
    const unsaved = readUnsaved(id);
    if (!unsaved || Object.keys(changeOf(base.fields, unsaved.fields)).length === 0) return;
    setRestored(true);
    load({ ...base, revision: unsaved.revision }, unsaved.fields);
  }, [base, id, load]);

  useEffect(() => {
    const timer = setTimeout(
      () => storeUnsaved(id, isDirty ? { revision: base.revision, fields } : null),
      storeMs,
    );
    return () => clearTimeout(timer);
  }, [id, base, fields, isDirty]);

  // A newer version of another user: loaded if there are no unsaved changes, otherwise reported in `theirs`.
  const { revision } = base;
  useEffect(() => {
    if (save.isPending || latest.revision <= revision) return;
    if (isDirty) setTheirs(latest);
    else load(baseOf(latest));
  }, [latest, revision, isDirty, save.isPending, load]);

  /** Returns the saved state, which is `from` if there was nothing to save, or null if the save failed. */
  const write = async (from: Base, isAutomatic: boolean): Promise<Base | null> => {
    const fields = current.current;
    const change = changeOf(from.fields, fields);
    if (Object.keys(change).length === 0) return from;
    const message = validate(fields, JSON.stringify(change).length);
    setFault(message ? { message, code: null, requestId: null } : null);
    if (message) return null;
    try {
      const call = { team: teamId, id, revision: from.revision, change, isAutomatic };
      const { revision: next, version } = await save.mutateAsync(call);
      const saved = { ...from, revision: next, number: version, fields };
      setBase(saved);
      setTheirs(null);
      setRestored(false);
      setSavedHere(true);
      void queries.invalidateQueries({ queryKey: trpc.templates.pathKey() });
      if (!isAutomatic) void showSuccess(`Saved as version ${version}`);
      return saved;
    } catch (error) {
      const failure = faultOf(error);
      const newest =
        failure.code === "CONFLICT" ? await queries.fetchQuery({ ...query, staleTime: 0 }) : null;
      if (newest && newest.revision !== from.revision) setTheirs(newest);
      else setFault(shownFaultOf(error));
      return null;
    }
  };
  /** Saves one after another: each save continues from the revision of the save before. */
  const writeNext = (from: () => Base, isAutomatic = false): Promise<Base | null> => {
    const next = saving.current.then(() => write(from(), isAutomatic));
    saving.current = next.catch(() => null);
    return next;
  };
  const dropChanges = (next: TemplateView) => {
    setRestored(false);
    storeUnsaved(id, null);
    load(baseOf(next));
  };

  return {
    latest,
    base,
    fields,
    epoch,
    isDirty,
    isRestored,
    /** The current version was saved by this page. */
    isSavedHere,
    theirs,
    fault,
    isSaving: save.isPending,
    edit: (part: Partial<Fields>) => {
      setRestored(false);
      setFields((before) => ({ ...before, ...part }));
    },
    /** Saves the changed fields. Returns the saved state, or null if the save failed. */
    save: () => writeNext(() => currentBase.current),
    /** The same without a message. */
    saveAutomatically: () => writeNext(() => currentBase.current, true),
    /** Discards unsaved changes. The toast offers to undo this, with the revision they are based on. */
    discard: () => {
      dropChanges(latest);
      showUndo("Unsaved changes discarded", () => {
        storeUnsaved(id, { revision, fields });
        load(base, fields);
      });
    },
    /** Discards the unsaved changes and loads the version of the other user. */
    acceptTheirs: () => (theirs ? dropChanges(theirs) : undefined),
    /** Saves the fields over the version of the other user. If that version is a draft, it is lost. */
    overwriteTheirs: async () => (theirs ? writeNext(() => baseOf(theirs)) : null),
    /** Reloads the template after this page changed its name, its alias or the published version. */
    reload: async () => {
      const newest = await queries.fetchQuery({ ...query, staleTime: 0 });
      if (isDirty) setBase({ ...baseOf(newest), fields: base.fields });
      else load(baseOf(newest));
      void queries.invalidateQueries({ queryKey: trpc.templates.pathKey() });
    },
  };
}

export type OpenTemplate = ReturnType<typeof useTemplate>;

/** The props of the page, which its dialogs have too. */
export type EditorProps = {
  teamId: string;
  id: string;
  publicUrl: string;
  /** The user's own email address. */
  ownAddress: string;
};
export type DialogName = "api" | "test" | "name" | "publish" | "conflict" | "delete";
export type DialogProps = EditorProps & {
  template: OpenTemplate;
  samples: Samples;
  /** Asks whether this version is published again. */
  onRollBack: (version: number) => void;
  onClose: () => void;
};

/** Validates fields before the API call. Returns an error message, or null. */
function validate(fields: Fields, chars: number): string | null {
  if (fields.html.trim() === "") return "Enter the HTML of the template.";
  const invalid = effectiveVariables(fields).find((variable) => faultOfFallback(variable) !== null);
  if (invalid) return `The fallback of ${invalid.key}: ${faultOfFallback(invalid)}`;
  if (chars > charsMax)
    return "The changes exceed the editor's limit of about 900 KB. Save them with the API.";
  return null;
}

/** Ctrl+S (⌘S on a Mac) saves from anywhere on the page, instead of opening the browser's save dialog. */
export function useSaveKey(save: () => void): void {
  const saveRef = useRef(save);
  saveRef.current = save;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      saveRef.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
