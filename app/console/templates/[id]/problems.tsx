"use client";

import { CircleAlert, TriangleAlert } from "lucide-react";
import type { DraftPreview } from "#server/services/templates/preview";
import { rawKeysIn, readTags } from "#server/shared/template-tags";
import { FIELD_NAMES, type Fields } from "./fields";

type Field = "subject" | "html" | "text";
type TagError = { field: Field; at: number; line: number; message: string };

type Props = {
  fields: Fields;
  /** The last preview from the server, with its errors. */
  result: DraftPreview | null;
  onGoTo: (field: Field, at: number) => void;
};

/** Errors that prevent saving, with links to their positions, and warnings. */
export function Problems({ fields, result, onGoTo }: Props) {
  const tagErrors = tagErrorsOf(fields);
  // Errors from the server without a position, such as a subject that is too long or an invalid variable.
  const others = (result?.faults ?? []).filter(
    ({ field }) => !tagErrors.some((error) => error.field === field),
  );
  const raw = [...rawKeysIn(fields.html)];
  return (
    <div className="flex flex-col gap-3 empty:hidden">
      {tagErrors.length + others.length > 0 ? (
        <section
          aria-label="Errors"
          aria-live="polite"
          className="rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad leading-6"
        >
          <ul className="flex flex-col gap-1">
            {tagErrors.slice(0, listedMax).map(({ field, at, line, message }) => (
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
                  {message}
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
          {tagErrors.length > listedMax ? (
            <p className="mt-1">And {tagErrors.length - listedMax} more.</p>
          ) : null}
        </section>
      ) : null}
      {result && result.warnings.length > 0 ? (
        <section
          aria-label="Warnings"
          aria-live="polite"
          className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6"
        >
          <ul className="flex flex-col gap-1">
            {result.warnings.map((warning) => (
              <li key={warning} className="flex gap-2.5">
                <TriangleAlert className="mt-1 size-4 shrink-0" aria-hidden="true" />
                <span className="min-w-0 break-words">{warning}</span>
              </li>
            ))}
          </ul>
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
            {raw.length === 1 ? "is" : "are"} inserted as raw HTML. If untrusted users control the value, they
            can change the links, text and images of the email. Use two braces to insert it as text.
          </p>
        </section>
      ) : null}
    </div>
  );
}

const listedMax = 8;

function tagErrorsOf(fields: Fields): TagError[] {
  const sources = { subject: fields.subject, html: fields.html, text: fields.text ?? "" };
  return (Object.keys(sources) as Field[]).flatMap((field) =>
    readTags(sources[field]).flatMap(({ from, fault }) =>
      fault === null
        ? []
        : { field, at: from, line: sources[field].slice(0, from).split("\n").length, message: fault },
    ),
  );
}
