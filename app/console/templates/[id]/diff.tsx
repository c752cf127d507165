"use client";

import { Suspense } from "react";
import { Skeleton } from "../../_ui/list/skeleton";
import { lazyPart } from "../../_ui/page/lazy-part";
import { effectiveVariables, FIELD_NAMES, type Fields } from "./fields";

const Merge = lazyPart(async () => (await import("./merge-view")).MergeView);

type Props = { before: Fields; after: Fields };

/** The differences between two versions of a template, by field. */
export function Diff({ before, after }: Props) {
  const lines = [
    { name: "subject" as const, old: before.subject, next: after.subject },
    { name: "from" as const, old: before.from, next: after.from },
    { name: "replyTo" as const, old: before.replyTo, next: after.replyTo },
    { name: "variables" as const, old: formatVariables(before), next: formatVariables(after) },
  ].filter(({ old, next }) => old !== next);
  const sources = [
    { name: "html" as const, old: before.html, next: after.html },
    { name: "text" as const, old: formatText(before.text), next: formatText(after.text) },
  ].filter(({ old, next }) => old !== next);
  if (lines.length + sources.length === 0)
    return <p className="px-4 py-10 text-center text-soft">No differences.</p>;
  return (
    <div className="flex flex-col gap-5">
      {lines.map(({ name, old, next }) => (
        <section key={name} aria-label={FIELD_NAMES[name]}>
          <FieldName>{FIELD_NAMES[name]}</FieldName>
          <p className="overflow-hidden rounded-lg border border-line font-mono text-xs leading-5">
            <del className="block whitespace-pre-wrap break-words bg-bad-tint px-3 py-1.5 no-underline">
              <span className="sr-only">Before: </span>− {old || "(none)"}
            </del>
            <ins className="block whitespace-pre-wrap break-words bg-good-tint px-3 py-1.5 no-underline">
              <span className="sr-only">After: </span>+ {next || "(none)"}
            </ins>
          </p>
        </section>
      ))}
      {sources.map(({ name, old, next }) => (
        <section key={name} aria-label={FIELD_NAMES[name]}>
          <FieldName>{FIELD_NAMES[name]}</FieldName>
          <div className="max-h-[36rem] overflow-auto rounded-lg border border-line">
            <Suspense fallback={<Skeleton className="m-4 h-3 w-1/2" />}>
              <Merge
                key={`${old.length}-${next.length}`}
                label={FIELD_NAMES[name]}
                before={old}
                after={next}
              />
            </Suspense>
          </div>
        </section>
      ))}
    </div>
  );
}

function FieldName({ children }: { children: string }) {
  return <h3 className="mb-1.5 font-medium first-letter:uppercase">{children}</h3>;
}

const formatText = (text: string | null): string =>
  text === null ? "(generated from the HTML)" : text === "" ? "(no text part)" : text;

const formatVariables = (fields: Fields): string =>
  effectiveVariables(fields)
    .map(
      ({ key, type, isRequired, fallback }) =>
        `${key}: ${type}${isRequired ? ", required" : `, fallback ${JSON.stringify(fallback)}`}`,
    )
    .join("\n");
