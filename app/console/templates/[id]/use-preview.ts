"use client";

import { useMutation } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import type { DraftPreview } from "#server/services/templates/draft-preview";
import { type Fault, faultOf } from "../../_ui/fault";
import { useTRPC } from "../../_ui/trpc";
import { declare, type Fields, settleVariables } from "./fields";
import type { Samples } from "./stored";
import { valuesOf } from "./use-samples";

/** After the last key press. */
const settleMs = 250;
/** What one call of the console may carry, with room for what JSON adds. */
export const charsMax = 900_000;

export type Preview = {
  /** The last answer; null before the first. */
  said: DraftPreview | null;
  /** The last HTML that could be made, which stays while there is a fault. */
  html: string;
  /** An answer to what stands in the fields now is still to come. */
  isStale: boolean;
  fault: Fault | null;
};

/** What a mail with these fields and values would say, asked of the server when somebody stops typing. */
export function usePreview(teamId: string, fields: Fields, samples: Samples, withText: boolean): Preview {
  const trpc = useTRPC();
  const { mutateAsync } = useMutation(trpc.templates.preview.mutationOptions());
  const [answer, setAnswer] = useState<{ question: string; said: DraftPreview } | null>(null);
  const [fault, setFault] = useState<Fault | null>(null);
  const [html, setHtml] = useState("");
  const wanted = useRef("");
  const question = useMemo(() => {
    const { subject, html: source, text } = fields;
    const variables = settleVariables(fields);
    return JSON.stringify({
      team: teamId,
      draft: { subject: subject.trim() || null, html: source, text, variables: declare(variables) },
      values: valuesOf(variables, samples),
      withText,
    });
  }, [teamId, fields, samples, withText]);

  useEffect(() => {
    wanted.current = question;
    if (question.length > charsMax) return;
    const timer = setTimeout(async () => {
      try {
        const said = await mutateAsync(JSON.parse(question));
        if (wanted.current !== question) return;
        setAnswer({ question, said });
        setFault(null);
        if (said.html !== null) setHtml(said.html);
      } catch (error) {
        if (wanted.current === question) setFault(faultOf(error));
      }
    }, settleMs);
    return () => clearTimeout(timer);
  }, [question, mutateAsync]);

  const isStale = answer?.question !== question;
  return { said: answer?.said ?? null, html, isStale, fault: question.length > charsMax ? TOO_LARGE : fault };
}

const TOO_LARGE: Fault = {
  message: "This is more than the editor can show and save, about 900 KB. Make it smaller, or use the API.",
  code: null,
  requestId: null,
};
