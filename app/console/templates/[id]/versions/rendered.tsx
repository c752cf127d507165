"use client";

import { useMemo } from "react";
import { effectiveVariables, type Fields } from "../fields";
import { FRAME, frameDocument } from "../preview/frame-document";
import { type Preview, usePreview } from "../preview/use-preview";
import { useSamples } from "../state/stored";
import { markChanges } from "./mark-changes";

type Props = {
  teamId: string;
  id: string;
  /** Null to show one version only. */
  before: { number: number; fields: Fields } | null;
  after: { number: number; fields: Fields };
};

/** One version as recipients see it, with the sample values, or two side by side. */
export function Rendered({ before, ...props }: Props) {
  return before === null ? <One {...props} /> : <Two before={before} {...props} />;
}

type One = Omit<Props, "before">;
type Two = One & { before: NonNullable<Props["before"]> };

function One({ teamId, id, after }: One) {
  const { samples } = useSamples(id);
  const preview = usePreview(teamId, after.fields, samples, false);
  return (
    <div aria-busy={preview.isStale}>
      <p role="status" className="mb-3 text-soft text-xs">
        {preview.state === "current" ? null : (faultOf(preview) ?? "Updating…")} {valuesNote(after.fields)}
      </p>
      <Side title={`Version ${after.number}`} subject={preview.result?.subject ?? null} html={preview.html} />
    </div>
  );
}

const valuesNote = (fields: Fields) =>
  effectiveVariables(fields).length > 0 ? "Values are your sample values." : null;

/** Changed texts and images are marked. */
function Two({ teamId, id, before, after }: Two) {
  const { samples } = useSamples(id);
  const old = usePreview(teamId, before.fields, samples, false);
  const next = usePreview(teamId, after.fields, samples, false);
  const marked = useMemo(() => markChanges(old.html, next.html), [old.html, next.html]);
  const isCurrent = old.state === "current" && next.state === "current";
  return (
    <>
      <p role="status" className="mb-3 text-soft text-xs">
        {!isCurrent
          ? (faultOf(old) ?? faultOf(next) ?? "Updating…")
          : marked.count === 0
            ? "The texts and images are the same. Layout and colors may differ: see the source."
            : `Removed texts and images are marked at version ${before.number}, added ones at version ${after.number}.`}{" "}
        {valuesNote(after.fields)}
      </p>
      <div aria-busy={!isCurrent} className="grid gap-4 md:grid-cols-2">
        <Side title={`Version ${before.number}`} subject={old.result?.subject ?? null} html={marked.before} />
        <Side title={`Version ${after.number}`} subject={next.result?.subject ?? null} html={marked.after} />
      </div>
    </>
  );
}

const faultOf = ({ fault, state, result }: Preview): string | null =>
  fault?.message ?? (state === "blocked" ? (result?.faults[0]?.message ?? null) : null);

function Side({ title, subject, html }: { title: string; subject: string | null; html: string }) {
  const source = useMemo(() => frameDocument(html), [html]);
  return (
    <section aria-label={title} className="min-w-0 overflow-hidden rounded-lg border border-line">
      <p className="border-line border-b px-3 py-2">
        <span className="mr-2 text-soft text-xs">{title}</span>
        <span className="break-words font-medium">{subject ?? "No subject"}</span>
      </p>
      <iframe
        key={source}
        {...FRAME}
        title={`${title} as rendered`}
        srcDoc={source}
        style={{ colorScheme: "light" }}
        className="h-[36rem] w-full bg-white"
      />
    </section>
  );
}
