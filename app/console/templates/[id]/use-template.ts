"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { TemplateView } from "#server/trpc/template-views";
import { type Fault, faultOf } from "../../_ui/fault";
import { sayDone, sayUndoable } from "../../_ui/toasts";
import { useTRPC } from "../../_ui/trpc";
import { type Base, baseOf, changeOf, type Fields, faultOfFallback, settleVariables } from "./fields";
import { keepUnsaved, readUnsaved } from "./stored";
import { charsMax } from "./use-preview";

/** After the last key press, before unsaved text is kept. */
const keepMs = 400;
/** How often somebody else's save is looked for; a hidden tab asks for nothing. */
const askAgainMs = 20_000;

/**
 * A template in the editor: what was read, what stands in the fields, and how it is saved. Nothing that somebody else saved
 * meanwhile is overwritten: `theirs` is it then, and the choice is the reader's.
 */
export function useTemplate(teamId: string, id: string) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  const question = trpc.templates.get.queryOptions({ team: teamId, id });
  const { data: latest } = useQuery({ ...question, refetchInterval: askAgainMs });
  const save = useMutation(trpc.templates.save.mutationOptions());
  const [base, setBase] = useState<Base | null>(latest ? baseOf(latest) : null);
  const [fields, setFields] = useState<Fields | null>(base?.fields ?? null);
  /** Counts how often the fields were set from outside: editors begin anew with each. */
  const [epoch, setEpoch] = useState(0);
  const [isRestored, setRestored] = useState(false);
  const [isSavedHere, setSavedHere] = useState(false);
  const [theirs, setTheirs] = useState<TemplateView | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);

  const shown = useRef(fields);
  shown.current = fields;
  const take = useCallback((next: Base, with_: Fields = next.fields) => {
    setBase(next);
    // What stands there already keeps its cursor and what can be undone.
    if (JSON.stringify(shown.current) !== JSON.stringify(with_)) {
      setFields(with_);
      setEpoch((count) => count + 1);
    }
    setTheirs(null);
    setFault(null);
  }, []);

  const change = useMemo(() => (base && fields ? changeOf(base.fields, fields) : {}), [base, fields]);
  const isDirty = Object.keys(change).length > 0;

  // Text that was not saved when the page went away comes back, with the revision that it began from.
  const isLoaded = base !== null;
  const wasAsked = useRef(false);
  useEffect(() => {
    if (!base || wasAsked.current) return;
    wasAsked.current = true;
    const unsaved = readUnsaved(id);
    if (!unsaved || Object.keys(changeOf(base.fields, unsaved.fields)).length === 0) return;
    setRestored(true);
    take({ ...base, revision: unsaved.revision }, unsaved.fields);
  }, [base, id, take]);

  useEffect(() => {
    if (!base || !fields || !wasAsked.current) return;
    const timer = setTimeout(
      () => keepUnsaved(id, isDirty ? { revision: base.revision, fields } : null),
      keepMs,
    );
    return () => clearTimeout(timer);
  }, [id, base, fields, isDirty]);

  // Somebody else's save: taken over where nothing would be lost by it, told of otherwise.
  const revision = base?.revision;
  useEffect(() => {
    if (!latest || save.isPending) return;
    if (revision === undefined || (latest.revision > revision && !isDirty)) take(baseOf(latest));
    else if (latest.revision > revision) setTheirs(latest);
  }, [latest, revision, isDirty, save.isPending, take]);

  const write = async (from: Base, what: Fields): Promise<Base | null> => {
    const wanted = changeOf(from.fields, what);
    if (Object.keys(wanted).length === 0) return from;
    const refused = refuse(what, JSON.stringify(wanted).length);
    setFault(refused ? { message: refused, code: null, requestId: null } : null);
    if (refused) return null;
    try {
      const { revision: next, version } = await save.mutateAsync({
        team: teamId,
        id,
        revision: from.revision,
        change: wanted,
      });
      const saved = { ...from, revision: next, number: version, fields: what };
      setBase(saved);
      setTheirs(null);
      setRestored(false);
      setSavedHere(true);
      keepUnsaved(id, null);
      void queries.invalidateQueries({ queryKey: trpc.templates.pathKey() });
      return saved;
    } catch (error) {
      const why = faultOf(error);
      const now = why.code === "CONFLICT" ? await queries.fetchQuery({ ...question, staleTime: 0 }) : null;
      if (now && now.revision !== from.revision) setTheirs(now);
      else setFault(why);
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
    /** What stands there was saved in this page, and not some time ago. */
    isSavedHere,
    theirs,
    fault,
    isSaving: save.isPending,
    edit: (part: Partial<Fields>) => setFields((now) => (now ? { ...now, ...part } : now)),
    /** Saves what differs; answers what stands there then, or null where it was refused. */
    save: async (): Promise<Base | null> => {
      if (!base || !fields || save.isPending) return null;
      const saved = await write(base, fields);
      if (saved && saved !== base) void sayDone(`Saved as version ${saved.number}`);
      return saved;
    },
    /** Goes back to what was read last. For a while the text can be had again, with the revision that it began from. */
    discard: () => {
      if (!latest || !base || !fields) return;
      setRestored(false);
      keepUnsaved(id, null);
      take(baseOf(latest));
      sayUndoable("Unsaved text dropped", () => {
        keepUnsaved(id, { revision: base.revision, fields });
        take(base, fields);
      });
    },
    /** Takes over what somebody else saved. */
    takeTheirs: () => {
      if (!theirs) return;
      keepUnsaved(id, null);
      setRestored(false);
      take(baseOf(theirs));
    },
    /** Saves one's own text over what somebody else saved. A draft of theirs is gone then. */
    keepMine: async () => {
      if (!theirs || !fields) return;
      const saved = await write(baseOf(theirs), fields);
      if (saved) void sayDone(`Saved as version ${saved.number}`);
    },
    /** Tells that something else of the template was changed here: its name, or which version is published. */
    follow: async () => {
      const now = await queries.fetchQuery({ ...question, staleTime: 0 });
      if (!isDirty) take(baseOf(now));
      else if (base) setBase({ ...baseOf(now), fields: base.fields });
      void queries.invalidateQueries({ queryKey: trpc.templates.pathKey() });
    },
  };
}

export type OpenTemplate = ReturnType<typeof useTemplate>;

/** Why fields cannot be saved, before the server is asked. */
function refuse(fields: Fields, chars: number): string | null {
  if (fields.html.trim() === "") return "Give the template some HTML.";
  const [faulty] = settleVariables(fields).filter((variable) => faultOfFallback(variable) !== null);
  if (faulty) return `The fallback of ${faulty.key} is no number.`;
  if (chars > charsMax)
    return "This is more than the editor can save at once, about 900 KB. Save it by the API.";
  return null;
}
