"use client";

import { useRef, useState } from "react";
import { CodeEditor } from "../code/code-editor";
import type { EditorProps } from "../code/code-mirror";

type Props = Pick<EditorProps, "declared" | "isReadOnly" | "onReady"> & {
  /** The initial text; null if it is generated from the HTML, "" for no text part. */
  text: string | null;
  onChange: (text: string | null) => void;
};

const KINDS = [
  { value: "generated", label: "Generated from HTML" },
  { value: "written", label: "Custom text" },
  { value: "none", label: "No text part" },
] as const;
type Kind = (typeof KINDS)[number]["value"];

const NOTES = {
  generated: "The text part of each email is generated from its HTML when it is sent. The preview shows it.",
  none: "No text part. Text-only email clients show an empty email, and spam filters add a penalty.",
};

/** Selects the source of the text part. A custom text is kept while another source is selected. */
export function TextPart({ text, isReadOnly, onChange, ...editor }: Props) {
  const [kind, setKind] = useState<Kind>(text === null ? "generated" : text === "" ? "none" : "written");
  const written = useRef(text || "Hello,\n");
  const choose = (next: Kind) => {
    setKind(next);
    onChange(next === "generated" ? null : next === "none" ? "" : written.current);
  };
  return (
    <div className="flex h-[32rem] flex-col">
      <fieldset
        disabled={isReadOnly}
        className="flex flex-wrap gap-x-5 gap-y-1 border-line border-b px-4 py-2.5"
      >
        <legend className="sr-only">Text part</legend>
        {KINDS.map(({ value, label }) => (
          <label key={value} className="flex min-h-7 cursor-pointer items-center gap-2 max-md:min-h-11">
            <input
              type="radio"
              name="text-kind"
              checked={kind === value}
              onChange={() => choose(value)}
              className="size-4 accent-accent"
            />
            {label}
          </label>
        ))}
      </fieldset>
      {kind === "written" ? (
        <div className="min-h-0 grow">
          <CodeEditor
            label="Text"
            isHtml={false}
            initial={written.current}
            isReadOnly={isReadOnly}
            onChange={(now) => {
              written.current = now;
              onChange(now);
            }}
            {...editor}
          />
        </div>
      ) : (
        <p className="max-w-prose p-4 text-soft leading-6">{NOTES[kind]}</p>
      )}
    </div>
  );
}
