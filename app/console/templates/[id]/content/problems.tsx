"use client";

import { CircleAlert, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { DraftPreview } from "#server/services/templates/preview";
import { rawKeysIn, readTags } from "#server/shared/template-tags";
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
  // Errors from the server without a position, such as a subject that is too long or an invalid variable.
  const others = (result?.faults ?? []).filter(
    ({ field }) => !tagErrors.some((error) => error.field === field),
  );
  const warnings = result?.warnings ?? [];
  const raw = [...rawKeysIn(fields.html)];
  return (
    <div className="flex flex-col gap-3 empty:hidden">
      {tagErrors.length + others.length > 0 ? (
        <Notes label="Errors" tone="bad">
          {tagErrors.slice(0, listedMax).map(({ field, at, line, message }) => (
            <Note key={`${field}-${at}`} tone="bad">
              <button
                type="button"
                onClick={() => onGoTo(field, at)}
                className="mr-1.5 rounded font-medium underline underline-offset-4"
              >
                {FIELD_NAMES[field]}
                {field === "subject" ? "" : `, line ${line}`}
              </button>
              {message}
            </Note>
          ))}
          {others.map(({ field, message }) => (
            <Note key={`${field}-${message}`} tone="bad">
              {message}
            </Note>
          ))}
          {tagErrors.length > listedMax ? <li>And {tagErrors.length - listedMax} more.</li> : null}
        </Notes>
      ) : null}
      {warnings.length > 0 ? (
        <Notes label="Warnings" tone="warn">
          {warnings.map((warning) => (
            <Note key={warning} tone="warn">
              {warning}
            </Note>
          ))}
        </Notes>
      ) : null}
      {raw.length > 0 ? (
        <Notes label="Raw HTML" tone="warn">
          <Note tone="warn">
            {raw.map((key) => (
              <code key={key} className="mr-1.5 font-mono text-xs">{`{{{${key}}}}`}</code>
            ))}
            {raw.length === 1 ? "is" : "are"} inserted as raw HTML. If untrusted users control the value, they
            can change the links, text and images of the email. Use two braces to insert it as text.
          </Note>
        </Notes>
      ) : null}
    </div>
  );
}

const TONES = {
  bad: { Icon: CircleAlert, style: "bg-bad-tint text-bad" },
  warn: { Icon: TriangleAlert, style: "bg-warn-tint text-warn" },
};
type NoteProps = { tone: keyof typeof TONES; children: ReactNode };

function Notes({ label, tone, children }: NoteProps & { label: string }) {
  return (
    <section
      aria-label={label}
      aria-live="polite"
      className={`rounded-lg px-3.5 py-2.5 leading-6 ${TONES[tone].style}`}
    >
      <ul className="flex flex-col gap-1">{children}</ul>
    </section>
  );
}

function Note({ tone, children }: NoteProps) {
  const { Icon } = TONES[tone];
  return (
    <li className="flex gap-2.5">
      <Icon className="mt-1 size-4 shrink-0" aria-hidden="true" />
      <span className="min-w-0 break-words">{children}</span>
    </li>
  );
}

const tagErrorsOf = ({ subject, html, text }: Fields) =>
  Object.entries({ subject, html, text: text ?? "" }).flatMap(([field, source]) =>
    readTags(source).flatMap(({ from, fault }) => {
      const line = source.slice(0, from).split("\n").length;
      return fault === null ? [] : { field: field as SourceField, at: from, line, message: fault };
    }),
  );
