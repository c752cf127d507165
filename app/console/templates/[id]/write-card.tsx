"use client";

import { type ReactNode, useId, useRef, useState } from "react";
import { Tabs } from "../../_ui/page/tabs";
import { cardStyle, fieldStyle } from "../../_ui/styles";
import { CodeEditor } from "./code-editor";
import type { Fields } from "./fields";
import { Problems } from "./problems";
import { TextPart } from "./text-part";
import type { Preview } from "./use-preview";

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
  const moveCursor = (field: "subject" | "html" | "text", at: number) => {
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
  const editor = { declared, isReadOnly } as const;

  return (
    <div className="flex min-w-0 flex-col gap-3">
      <section aria-label="Content" className={`${cardStyle} overflow-hidden`}>
        <div className="grid gap-x-4 gap-y-3 border-line border-b p-4 md:grid-cols-2">
          <Line label="Subject" className="md:col-span-2">
            {(id) => (
              <input
                id={id}
                ref={subject}
                value={fields.subject}
                maxLength={2_000}
                readOnly={isReadOnly}
                placeholder="Empty: set by each send"
                onChange={({ target }) => onEdit({ subject: target.value })}
                {...(subjectFault ? { "aria-invalid": true, title: subjectFault } : {})}
                className={fieldStyle}
              />
            )}
          </Line>
          <Line label="From">
            {(id) => (
              <input
                id={id}
                value={fields.from}
                maxLength={400}
                readOnly={isReadOnly}
                spellCheck={false}
                placeholder="Empty: set by each send"
                onChange={({ target }) => onEdit({ from: target.value })}
                className={fieldStyle}
              />
            )}
          </Line>
          <Line label="Reply to">
            {(id) => (
              <input
                id={id}
                value={fields.replyTo}
                maxLength={4_000}
                readOnly={isReadOnly}
                spellCheck={false}
                placeholder="Empty: replies go to the sender"
                onChange={({ target }) => onEdit({ replyTo: target.value })}
                className={fieldStyle}
              />
            )}
          </Line>
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

type LineProps = { label: string; className?: string; children: (id: string) => ReactNode };

function Line({ label, className, children }: LineProps) {
  const id = useId();
  return (
    <div className={`flex min-w-0 flex-col gap-1 ${className ?? ""}`}>
      <label htmlFor={id} className="w-fit text-soft text-xs">
        {label}
      </label>
      {children(id)}
    </div>
  );
}
