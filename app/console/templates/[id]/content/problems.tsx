"use client";

import { CircleAlert, TriangleAlert } from "lucide-react";
import { Children, type ReactNode } from "react";
import type { DraftPreview } from "#server/services/templates/preview";
import { parseTags, positionOf } from "#server/shared/template-tags";
import { rawKeysIn } from "#server/shared/template-variables";
import { TONES } from "../../../_ui/text/badge";
import { FIELD_NAMES, type Fields } from "../fields";

export type SourceField = "subject" | "html" | "text";

type Props = {
  fields: Fields;
  /** The last preview from the server, with its errors. */
  result: DraftPreview | null;
  onGoTo: (field: SourceField, at: number) => void;
};

const listedMax = 8;

/** Errors that prevent saving, with links to their positions, and warnings. */
export function Problems({ fields, result, onGoTo }: Props) {
  const tagErrors = tagErrorsOf(fields);
  const others = otherErrorsOf(tagErrors, result);
  const raw = [...rawKeysIn(fields.html)];
  const errors = [
    ...tagErrors.slice(0, listedMax).map(({ field, source, at, message }) => (
      <>
        <button
          type="button"
          onClick={() => onGoTo(field, at)}
          className="mr-1.5 rounded font-medium underline underline-offset-4"
        >
          {FIELD_NAMES[field]}
          {field === "subject" ? "" : `, line ${positionOf(source, at).line}`}
        </button>
        {message}
      </>
    )),
    ...others.map(({ message }) => message),
  ];
  const rawNote = (
    <>
      {raw.map((key) => (
        <code key={key} className="mr-1.5 font-mono text-xs">{`{{{${key}}}}`}</code>
      ))}
      {raw.length === 1 ? "is" : "are"} inserted as raw HTML. If untrusted users control the value, they can
      change the links, text and images of the email. Use two braces to insert it as text.
    </>
  );
  return (
    <div className="flex flex-col gap-3 empty:hidden">
      <Notes label="Errors" tone="bad" notes={errors} more={Math.max(0, tagErrors.length - listedMax)} />
      <Notes label="Warnings" tone="warn" notes={result?.warnings ?? []} />
      <Notes label="Raw HTML" tone="warn" notes={raw.length > 0 ? [rawNote] : []} />
    </div>
  );
}

type NotesProps = { label: string; tone: "bad" | "warn"; notes: readonly ReactNode[]; more?: number };

function Notes({ label, tone, notes, more = 0 }: NotesProps) {
  const Icon = tone === "bad" ? CircleAlert : TriangleAlert;
  if (notes.length === 0) return null;
  return (
    <section
      aria-label={label}
      aria-live="polite"
      className={`rounded-lg px-3.5 py-2.5 leading-6 ${TONES[tone]}`}
    >
      <ul className="flex flex-col gap-1">
        {Children.map(notes, (note) => (
          <li className="flex gap-2.5">
            <Icon className="mt-1 size-4 shrink-0" aria-hidden="true" />
            <span className="min-w-0 break-words">{note}</span>
          </li>
        ))}
        {more > 0 ? <li>And {more} more.</li> : null}
      </ul>
    </section>
  );
}

/** How many errors prevent saving. */
export const countErrors = (fields: Fields, result: DraftPreview | null): number =>
  tagErrorsOf(fields).length + otherErrorsOf(tagErrorsOf(fields), result).length;

/** Errors from the server without a position, such as a subject that is too long or an invalid variable. */
const otherErrorsOf = (tagErrors: readonly { field: SourceField }[], result: DraftPreview | null) =>
  (result?.faults ?? []).filter(({ field }) => !tagErrors.some((error) => error.field === field));

const tagErrorsOf = ({ subject, html, text }: Fields) =>
  Object.entries({ subject, html, text: text ?? "" }).flatMap(([field, source]) =>
    parseTags(source).flatMap((tag) =>
      tag.kind === "fault" ? { field: field as SourceField, source, at: tag.from, message: tag.fault } : [],
    ),
  );
