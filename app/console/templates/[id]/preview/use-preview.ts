"use client";

import { useMutation } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import type { DraftPreview } from "#server/services/templates/preview";
import { type Fault, faultOf, isEndOfSession, shownFaultOf } from "../../../_ui/fault";
import { useTRPC } from "../../../_ui/trpc";
import { effectiveVariables, type Fields, type Samples, toVariableInput, valuesOf } from "../fields";

/** Delay after the last key press. */
const settleMs = 250;
/** Delay after a request that did not reach the server. */
const retryMs = 5_000;
/** The size limit of one tRPC call, minus a margin for JSON escaping. */
export const charsMax = 900_000;

export type Preview = {
  /** The last result; null before the first one. */
  result: DraftPreview | null;
  /** The last HTML that was rendered. It stays while the fields have errors. */
  html: string;
  /** The result for the current fields is still loading. */
  isStale: boolean;
  /**
   * Whether `html` is that of the current fields. `blocked`: they have errors, or the server did not render
   * them.
   */
  state: "current" | "updating" | "blocked";
  /**
   * The last fault. It stays until the next result, also while the fields change: it is displayed above them,
   * and they would move with each key.
   */
  fault: Fault | null;
};

/** Renders a preview of these fields and values on the server when the user stops typing. */
export function usePreview(teamId: string, fields: Fields, samples: Samples, withText: boolean): Preview {
  const trpc = useTRPC();
  const { mutateAsync } = useMutation(trpc.templates.preview.mutationOptions());
  const [latest, setLatest] = useState<{ request: string; result: DraftPreview } | null>(null);
  const [failed, setFailed] = useState<{ request: string; fault: Fault | null } | null>(null);
  const [html, setHtml] = useState("");
  const [unreached, setUnreached] = useState({ request: "", count: 0 });
  // The newest request. Only its response is shown, in whichever order responses arrive.
  const pending = useRef("");
  const request = useMemo(() => {
    const { subject, html: source, text } = fields;
    const variables = effectiveVariables(fields);
    return JSON.stringify({
      team: teamId,
      draft: { subject: subject.trim() || null, html: source, text, variables: toVariableInput(variables) },
      values: valuesOf(variables, samples),
      withText,
    });
  }, [teamId, fields, samples, withText]);

  useEffect(() => {
    pending.current = request;
    if (request.length > charsMax) return;
    const timer = setTimeout(
      async () => {
        try {
          const result = await mutateAsync(JSON.parse(request));
          if (pending.current !== request) return;
          setLatest({ request, result });
          setFailed(null);
          if (result.html !== null) setHtml(result.html);
        } catch (error) {
          if (pending.current !== request) return;
          const failure = faultOf(error);
          setFailed({ request, fault: shownFaultOf(error) });
          if (failure.code === null || isEndOfSession(failure))
            setUnreached(({ count }) => ({ request, count: count + 1 }));
        }
      },
      unreached.request === request ? retryMs : settleMs,
    );
    return () => clearTimeout(timer);
  }, [request, unreached, mutateAsync]);

  const isStale = latest?.request !== request;
  const isTooLarge = request.length > charsMax;
  return {
    result: latest?.result ?? null,
    html,
    isStale,
    state: isStale
      ? isTooLarge || (failed?.request === request && failed.fault !== null)
        ? "blocked"
        : "updating"
      : latest?.result.html === null
        ? "blocked"
        : "current",
    fault: isTooLarge ? TOO_LARGE : (failed?.fault ?? null),
  };
}

const TOO_LARGE: Fault = {
  message: "The content exceeds the editor's limit of about 900 KB. Make it smaller, or use the API.",
  code: null,
  requestId: null,
};
