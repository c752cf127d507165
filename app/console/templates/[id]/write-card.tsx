"use client";

import { type ReactNode, useId, useRef, useState } from "react";
import { cardStyle, fieldStyle } from "../../_ui/styles";
import { Tabs } from "../../_ui/tabs";
import { CodeEditor } from "./code-editor";
import type { Fields } from "./fields";
import { Problems } from "./problems";
import { TextPart } from "./text-part";
import type { Preview } from "./use-preview";

type Props = {
  fields: Fields;
  /** Counts how often the fields were set from outside. */
  epoch: number;
  declared: readonly string[];
  preview: Preview;
  isReadOnly: boolean;
  onEdit: (part: Partial<Fields>) => void;
};

/** Readers with this mail program see the rest of a longer mail behind a link. */
const clippedAtBytes = 102 * 1024;

/** The words of the template: who it is from, its subject, its HTML and its text. */
export function WriteCard({ fields, epoch, declared, preview, isReadOnly, onEdit }: Props) {
  const [tab, setTab] = useState("html");
  const subject = useRef<HTMLInputElement>(null);
  const goTo = useRef<{ html?: (at: number) => void; text?: (at: number) => void }>({});
  const waiting = useRef<{ field: "html" | "text"; at: number } | null>(null);
  const lead = (field: "subject" | "html" | "text", at: number) => {
    if (field === "subject") {
      subject.current?.focus();
      subject.current?.setSelectionRange(at, at);
    } else if (field === tab) goTo.current[field]?.(at);
    else {
      // The other editor is not there yet: it hears of it when it is.
      waiting.current = { field, at };
      setTab(field);
    }
  };
  const ready = (field: "html" | "text") => (go: (at: number) => void) => {
    goTo.current[field] = go;
    const wanted = waiting.current;
    waiting.current = null;
    if (wanted?.field === field) go(wanted.at);
  };
  const subjectFault = preview.said?.faults.find(({ field }) => field === "subject")?.message;
  const editor = { declared, isReadOnly } as const;

  return (
    <div className="flex min-w-0 flex-col gap-3">
      <section aria-label="Words" className={`${cardStyle} overflow-hidden`}>
        <div className="grid gap-x-4 gap-y-3 border-line border-b p-4 md:grid-cols-2">
          <Line label="Subject" className="md:col-span-2">
            {(id) => (
              <input
                id={id}
                ref={subject}
                value={fields.subject}
                maxLength={2_000}
                readOnly={isReadOnly}
                placeholder="Empty: each send gives its own"
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
                placeholder="Empty: each send gives its own"
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
                placeholder="Empty: the sender"
                onChange={({ target }) => onEdit({ replyTo: target.value })}
                className={fieldStyle}
              />
            )}
          </Line>
        </div>
        <Tabs
          label="Part"
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
                    onReady={ready("html")}
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
                  onReady={ready("text")}
                  {...editor}
                />
              ),
            },
          ]}
        />
      </section>
      <Problems fields={fields} said={preview.said} onGoTo={lead} />
      {new Blob([preview.html]).size > clippedAtBytes ? (
        <p className="px-1 text-soft text-xs leading-5">
          The HTML has more than 102 KB. Gmail cuts such mails off and shows a link to the rest.
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
