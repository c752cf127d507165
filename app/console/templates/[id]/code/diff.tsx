"use client";

import { Suspense } from "react";
import { Skeleton } from "../../../_ui/list/skeleton";
import { lazyPart } from "../../../_ui/page/lazy-part";
import { CodeBlock } from "../../../_ui/text/code-block";
import { effectiveVariables, FIELD_NAMES, type Fields, TYPE_NAMES } from "../fields";

const Merge = lazyPart(async () => (await import("./merge-view")).MergeView);

type Props = { before: Fields; after: Fields };

/** The content of one version, by field. */
export function Content({ fields }: { fields: Fields }) {
  const texts = textsOf(fields);
  return (
    <div className="flex flex-col gap-5">
      {NAMES.filter((name) => texts[name] !== "").map((name) => (
        <CodeBlock key={name} label={capitalize(FIELD_NAMES[name])} text={texts[name]} />
      ))}
    </div>
  );
}

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** The differences between two versions of a template, by field. */
export function Diff({ before, after }: Props) {
  const [old, next] = [textsOf(before), textsOf(after)];
  const changed = NAMES.filter((name) => old[name] !== next[name]);
  if (changed.length === 0) return <p className="px-4 py-10 text-center text-soft">No differences.</p>;
  return (
    <div className="flex flex-col gap-5">
      {changed.map((name) => (
        <section key={name} aria-label={FIELD_NAMES[name]}>
          <h3 className="mb-1.5 font-medium first-letter:uppercase">{FIELD_NAMES[name]}</h3>
          <div className="max-h-[36rem] overflow-auto rounded-lg border border-line">
            <Suspense fallback={<Skeleton className="m-4 h-3 w-1/2" />}>
              <Merge
                key={`${old[name].length}-${next[name].length}`}
                label={FIELD_NAMES[name]}
                before={old[name]}
                after={next[name]}
              />
            </Suspense>
          </div>
        </section>
      ))}
    </div>
  );
}

const NAMES = ["subject", "from", "replyTo", "variables", "html", "text"] as const;

/** Each field as the text that is compared. */
const textsOf = (fields: Fields): Record<(typeof NAMES)[number], string> => ({
  ...fields,
  variables: formatVariables(fields),
  text: formatText(fields.text),
});

const formatText = (text: string | null): string =>
  text === null ? "(generated from the HTML)" : text === "" ? "(no text part)" : text;

const formatVariables = (fields: Fields): string =>
  effectiveVariables(fields)
    .map(
      ({ key, type, isRequired, fallback }) =>
        `${key}: ${TYPE_NAMES[type]}${isRequired ? ", required" : `, fallback ${JSON.stringify(fallback)}`}`,
    )
    .join("\n");
