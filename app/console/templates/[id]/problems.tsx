"use client";

import { CircleAlert, TriangleAlert } from "lucide-react";
import type { DraftPreview } from "#server/services/templates/draft-preview";
import { FIELD_NAMES, type Fields } from "./fields";
import { rawKeysIn, readTags } from "./tags";

type Field = "subject" | "html" | "text";
type Place = { field: Field; at: number; line: number; said: string };

type Props = {
  fields: Fields;
  /** What the server said of the fields. */
  said: DraftPreview | null;
  onGoTo: (field: Field, at: number) => void;
};

/** What keeps the template from being saved, each with the way to its place; and what to be careful with. */
export function Problems({ fields, said, onGoTo }: Props) {
  const places = placesOf(fields);
  // What the server refuses where no place is known: a subject that is too long, a wrong variable.
  const others = (said?.faults ?? []).filter(({ field }) => !places.some((place) => place.field === field));
  const raw = [...rawKeysIn(fields.html)];
  return (
    <div className="flex flex-col gap-3 empty:hidden">
      {places.length + others.length > 0 ? (
        <section
          aria-label="Faults"
          aria-live="polite"
          className="rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad leading-6"
        >
          <ul className="flex flex-col gap-1">
            {places.slice(0, shownMax).map(({ field, at, line, said: fault }) => (
              <li key={`${field}-${at}`} className="flex gap-2.5">
                <CircleAlert className="mt-1 size-4 shrink-0" aria-hidden="true" />
                <span className="min-w-0 break-words">
                  <button
                    type="button"
                    onClick={() => onGoTo(field, at)}
                    className="mr-1.5 rounded font-medium underline underline-offset-4"
                  >
                    {FIELD_NAMES[field]}
                    {field === "subject" ? "" : `, line ${line}`}
                  </button>
                  {fault}
                </span>
              </li>
            ))}
            {others.map(({ field, message }) => (
              <li key={`${field}-${message}`} className="flex gap-2.5">
                <CircleAlert className="mt-1 size-4 shrink-0" aria-hidden="true" />
                <span className="min-w-0 break-words">{message}</span>
              </li>
            ))}
          </ul>
          {places.length > shownMax ? <p className="mt-1">And {places.length - shownMax} more.</p> : null}
        </section>
      ) : null}
      {raw.length > 0 ? (
        <section
          aria-label="Raw HTML"
          className="flex gap-2.5 rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6"
        >
          <TriangleAlert className="mt-1 size-4 shrink-0" aria-hidden="true" />
          <p className="min-w-0 break-words">
            {raw.map((key) => (
              <code key={key} className="mr-1.5 font-mono text-xs">{`{{{${key}}}}`}</code>
            ))}
            {raw.length === 1 ? "is" : "are"} put in as raw HTML. Where a stranger can write the value, they
            can change the whole mail: its links, its words, its pictures. With two braces it is shown as
            text.
          </p>
        </section>
      ) : null}
    </div>
  );
}

const shownMax = 8;

function placesOf(fields: Fields): Place[] {
  const sources = { subject: fields.subject, html: fields.html, text: fields.text ?? "" };
  return (Object.keys(sources) as Field[]).flatMap((field) =>
    readTags(sources[field]).flatMap(({ from, fault }) =>
      fault === null
        ? []
        : { field, at: from, line: sources[field].slice(0, from).split("\n").length, said: fault },
    ),
  );
}
