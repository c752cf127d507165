"use client";

import { Suspense } from "react";
import { lazyPart } from "../../_ui/lazy-part";
import { Skeleton } from "../../_ui/skeleton";
import { FIELD_NAMES, type Fields, settleVariables } from "./fields";

const Merge = lazyPart(async () => (await import("./merge-view")).MergeView);

type Props = { before: Fields; after: Fields };

/** What two versions of a template say differently, field by field. */
export function Diff({ before, after }: Props) {
  const lines = [
    { name: "subject" as const, old: before.subject, fresh: after.subject },
    { name: "from" as const, old: before.from, fresh: after.from },
    { name: "replyTo" as const, old: before.replyTo, fresh: after.replyTo },
    { name: "variables" as const, old: sayVariables(before), fresh: sayVariables(after) },
  ].filter(({ old, fresh }) => old !== fresh);
  const sources = [
    { name: "html" as const, old: before.html, fresh: after.html },
    { name: "text" as const, old: sayText(before.text), fresh: sayText(after.text) },
  ].filter(({ old, fresh }) => old !== fresh);
  if (lines.length + sources.length === 0)
    return <p className="px-4 py-10 text-center text-soft">Both say the same.</p>;
  return (
    <div className="flex flex-col gap-5">
      {lines.map(({ name, old, fresh }) => (
        <section key={name} aria-label={FIELD_NAMES[name]}>
          <Name>{FIELD_NAMES[name]}</Name>
          <p className="overflow-hidden rounded-lg border border-line font-mono text-xs leading-5">
            <del className="block whitespace-pre-wrap break-words bg-bad-tint px-3 py-1.5 no-underline">
              <span className="sr-only">Before: </span>− {old || "(none)"}
            </del>
            <ins className="block whitespace-pre-wrap break-words bg-good-tint px-3 py-1.5 no-underline">
              <span className="sr-only">After: </span>+ {fresh || "(none)"}
            </ins>
          </p>
        </section>
      ))}
      {sources.map(({ name, old, fresh }) => (
        <section key={name} aria-label={FIELD_NAMES[name]}>
          <Name>{FIELD_NAMES[name]}</Name>
          <div className="max-h-[36rem] overflow-auto rounded-lg border border-line">
            <Suspense fallback={<Skeleton className="m-4 h-3 w-1/2" />}>
              <Merge
                key={`${old.length}-${fresh.length}`}
                label={FIELD_NAMES[name]}
                before={old}
                after={fresh}
              />
            </Suspense>
          </div>
        </section>
      ))}
    </div>
  );
}

function Name({ children }: { children: string }) {
  return <h3 className="mb-1.5 font-medium first-letter:uppercase">{children}</h3>;
}

const sayText = (text: string | null): string =>
  text === null ? "(made from the HTML)" : text === "" ? "(no text part)" : text;

const sayVariables = (fields: Fields): string =>
  settleVariables(fields)
    .map(
      ({ key, type, isRequired, fallback }) =>
        `${key}: ${type}${isRequired ? ", required" : `, else ${JSON.stringify(fallback)}`}`,
    )
    .join("\n");
