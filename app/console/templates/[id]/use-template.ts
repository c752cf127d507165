"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { TemplateView } from "#server/trpc/templates/templates";
import { showSuccess, showUndo } from "../../_ui/dialog/toasts";
import { type Fault, faultOf } from "../../_ui/fault";
import { useTRPC } from "../../_ui/trpc";
import { type Base, baseOf, changeOf, effectiveVariables, type Fields, faultOfFallback } from "./fields";
import { readUnsaved, storeUnsaved } from "./stored";
import { charsMax } from "./use-preview";

/** Delay after the last key press before unsaved changes are stored. */
const storeMs = 400;
/** Interval of the check for changes by other users. Hidden tabs do not refetch. */
const refetchMs = 20_000;

/**
 * The state of the template editor: the loaded version, the fields, and saving. A save never overwrites a newer version
 * of another user: that version is then in `theirs`, and the user decides.
 */
export function useTemplate(teamId: string, id: string) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const query = trpc.templates.get.queryOptions({ team: teamId, id });
  const { data: latest } = useQuery({ ...query, refetchInterval: refetchMs });
  const save = useMutation(trpc.templates.save.mutationOptions());
  const [base, setBase] = useState<Base | null>(latest ? baseOf(latest) : null);
  const [fields, setFields] = useState<Fields | null>(base?.fields ?? null);
  /** Increases each time the fields are set from outside; editors use it as their `key` to reset. */
  const [epoch, setEpoch] = useState(0);
  const [isRestored, setRestored] = useState(false);
  const [isSavedHere, setSavedHere] = useState(false);
  const [theirs, setTheirs] = useState<TemplateView | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);

  const current = useRef(fields);
  current.current = fields;
  const load = useCallback((next: Base, nextFields: Fields = next.fields) => {
    setBase(next);
    // If the text is the same, the editor keeps its cursor and undo history.
    if (JSON.stringify(current.current) !== JSON.stringify(nextFields)) {
      setFields(nextFields);
      setEpoch((count) => count + 1);
    }
    setTheirs(null);
    setFault(null);
  }, []);

  const change = useMemo(() => (base && fields ? changeOf(base.fields, fields) : {}), [base, fields]);
  const isDirty = Object.keys(change).length > 0;

  // Restores the unsaved changes of an earlier visit, with the revision they are based on.
  const isLoaded = base !== null;
  const wasRestoreTried = useRef(false);
  useEffect(() => {
    if (!base || wasRestoreTried.current) return;
    wasRestoreTried.current = true;
    const unsaved = readUnsaved(id);
    if (!unsaved || Object.keys(changeOf(base.fields, unsaved.fields)).length === 0) return;
    setRestored(true);
    load({ ...base, revision: unsaved.revision }, unsaved.fields);
  }, [base, id, load]);

  useEffect(() => {
    if (!base || !fields || !wasRestoreTried.current) return;
    const timer = setTimeout(
      () => storeUnsaved(id, isDirty ? { revision: base.revision, fields } : null),
      storeMs,
    );
    return () => clearTimeout(timer);
  }, [id, base, fields, isDirty]);

  // A newer version of another user: loaded if there are no unsaved changes, otherwise reported in `theirs`.
  const revision = base?.revision;
  useEffect(() => {
    if (!latest || save.isPending) return;
    if (revision === undefined || (latest.revision > revision && !isDirty)) load(baseOf(latest));
    else if (latest.revision > revision) setTheirs(latest);
  }, [latest, revision, isDirty, save.isPending, load]);

  const write = async (from: Base, to: Fields): Promise<Base | null> => {
    const changes = changeOf(from.fields, to);
    if (Object.keys(changes).length === 0) return from;
    const message = validate(to, JSON.stringify(changes).length);
    setFault(message ? { message, code: null, requestId: null } : null);
    if (message) return null;
    try {
      const { revision: next, version } = await save.mutateAsync({
        team: teamId,
        id,
        revision: from.revision,
        change: changes,
      });
      const saved = { ...from, revision: next, number: version, fields: to };
      setBase(saved);
      setTheirs(null);
      setRestored(false);
      setSavedHere(true);
      storeUnsaved(id, null);
      void queries.invalidateQueries({ queryKey: trpc.templates.pathKey() });
      return saved;
    } catch (error) {
      const failure = faultOf(error);
      const newest =
        failure.code === "CONFLICT" ? await queries.fetchQuery({ ...query, staleTime: 0 }) : null;
      if (newest && newest.revision !== from.revision) setTheirs(newest);
      else setFault(failure);
      return null;
    }
  };

  return {
    latest,
    base,
    fields,
    epoch,
    isLoaded,
    isDirty,
    change,
    isRestored,
    /** The current version was saved by this page. */
    isSavedHere,
    theirs,
    fault,
    isSaving: save.isPending,
    edit: (part: Partial<Fields>) => setFields((before) => (before ? { ...before, ...part } : before)),
    /** Saves the changed fields. Returns the saved state, or null if the save failed. */
    save: async (): Promise<Base | null> => {
      if (!base || !fields || save.isPending) return null;
      const saved = await write(base, fields);
      if (saved && saved !== base) void showSuccess(`Saved as version ${saved.number}`);
      return saved;
    },
    /** Discards unsaved changes. The toast offers to undo this, with the revision they are based on. */
    discard: () => {
      if (!latest || !base || !fields) return;
      setRestored(false);
      storeUnsaved(id, null);
      load(baseOf(latest));
      showUndo("Unsaved changes discarded", () => {
        storeUnsaved(id, { revision: base.revision, fields });
        load(base, fields);
      });
    },
    /** Discards the unsaved changes and loads the version of the other user. */
    acceptTheirs: () => {
      if (!theirs) return;
      storeUnsaved(id, null);
      setRestored(false);
      load(baseOf(theirs));
    },
    /** Saves the fields over the version of the other user. If that version is a draft, it is lost. */
    overwriteTheirs: async () => {
      if (!theirs || !fields) return;
      const saved = await write(baseOf(theirs), fields);
      if (saved) void showSuccess(`Saved as version ${saved.number}`);
    },
    /** Reloads the template after this page changed its name, its alias or the published version. */
    reload: async () => {
      const newest = await queries.fetchQuery({ ...query, staleTime: 0 });
      if (!isDirty) load(baseOf(newest));
      else if (base) setBase({ ...baseOf(newest), fields: base.fields });
      void queries.invalidateQueries({ queryKey: trpc.templates.pathKey() });
    },
  };
}

export type OpenTemplate = ReturnType<typeof useTemplate>;

/** Validates fields before the API call. Returns an error message, or null. */
function validate(fields: Fields, chars: number): string | null {
  if (fields.html.trim() === "") return "Enter the HTML of the template.";
  const [invalid] = effectiveVariables(fields).filter((variable) => faultOfFallback(variable) !== null);
  if (invalid) return `The fallback of ${invalid.key} is not a number.`;
  if (chars > charsMax)
    return "The changes exceed the editor's limit of about 900 KB. Save them with the API.";
  return null;
}
