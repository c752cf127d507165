"use client";

import { type ComponentProps, useId, useRef, useState } from "react";
import { Tabs } from "../../../_ui/page/tabs";
import { cardStyle, fieldStyle } from "../../../_ui/styles";
import { CodeEditor } from "../code/code-editor";
import type { Fields } from "../fields";
import type { Preview } from "../preview/use-preview";
import { Problems, type SourceField } from "./problems";
import { TextPart } from "./text-part";

type Props = {
  fields: Fields;
  /** Increases each time the fields are set from outside. */
  epoch: number;
  declared: readonly string[];
  preview: Preview;
  isReadOnly: boolean;
  onEdit: (part: Partial<Fields>) => void;
};

/** Gmail clips larger emails and links to the rest. */
const clippedAtBytes = 102 * 1024;

/** The content of the template: sender, subject, HTML and text. */
export function WriteCard({ fields, epoch, declared, preview, isReadOnly, onEdit }: Props) {
  const [tab, setTab] = useState("html");
  const subject = useRef<HTMLInputElement>(null);
  const goTo = useRef<{ html?: (at: number) => void; text?: (at: number) => void }>({});
  const pendingGoTo = useRef<{ field: "html" | "text"; at: number } | null>(null);
  const moveCursor = (field: SourceField, at: number) => {
    if (field === "subject") {
      subject.current?.focus();
      subject.current?.setSelectionRange(at, at);
    } else if (field === tab) goTo.current[field]?.(at);
    else {
      // The editor of the other tab is not mounted yet. It moves the cursor when it is ready.
      pendingGoTo.current = { field, at };
      setTab(field);
    }
  };
  const handleReady = (field: "html" | "text") => (go: (at: number) => void) => {
    goTo.current[field] = go;
    const pending = pendingGoTo.current;
    pendingGoTo.current = null;
    if (pending?.field === field) go(pending.at);
  };
  const subjectFault = preview.result?.faults.find(({ field }) => field === "subject")?.message;
  const line = (name: "subject" | "from" | "replyTo") => ({
    value: fields[name],
    readOnly: isReadOnly,
    onChange: ({ target }: { target: HTMLInputElement }) => onEdit({ [name]: target.value }),
  });
  const editor = { declared, isReadOnly } as const;

  return (
    <div className="flex min-w-0 flex-col gap-3">
      <section aria-label="Content" className={`${cardStyle} overflow-hidden`}>
        <div className="grid gap-x-4 gap-y-3 border-line border-b p-4 md:grid-cols-2">
          <div className="md:col-span-2">
            <Line
              label="Subject"
              ref={subject}
              maxLength={2_000}
              placeholder="Default: set by each email"
              {...line("subject")}
              {...(subjectFault ? { "aria-invalid": true, title: subjectFault } : {})}
            />
          </div>
          <Line
            label="From"
            maxLength={400}
            spellCheck={false}
            placeholder="Default: set by each email"
            {...line("from")}
          />
          <Line
            label="Reply to"
            maxLength={4_000}
            spellCheck={false}
            placeholder="Default: the From address"
            {...line("replyTo")}
          />
        </div>
        <Tabs
          label="Format"
          className="border-0"
          value={tab}
          onValueChange={setTab}
          tabs={[
            {
              value: "html",
              label: "HTML",
              content: (
                <div className="h-[32rem]">
                  <CodeEditor
                    key={`html-${epoch}`}
                    label="HTML"
                    isHtml
                    initial={fields.html}
                    onChange={(html) => onEdit({ html })}
                    onReady={handleReady("html")}
                    {...editor}
                  />
                </div>
              ),
            },
            {
              value: "text",
              label: "Text",
              content: (
                <TextPart
                  key={`text-${epoch}`}
                  text={fields.text}
                  onChange={(text) => onEdit({ text })}
                  onReady={handleReady("text")}
                  {...editor}
                />
              ),
            },
          ]}
        />
      </section>
      <Problems fields={fields} result={preview.result} onGoTo={moveCursor} />
      {new Blob([preview.html]).size > clippedAtBytes ? (
        <p className="px-1 text-soft text-xs leading-5">
          The HTML is larger than 102 KB. Gmail clips such emails and shows a link to the rest.
        </p>
      ) : null}
    </div>
  );
}

function Line({ label, ...input }: { label: string } & ComponentProps<"input">) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className="w-fit text-soft text-xs">
        {label}
      </label>
      <input id={id} {...input} className={fieldStyle} />
    </div>
  );
}
