"use client";

import { CircleAlert, ImageOff } from "lucide-react";
import { useMemo, useState } from "react";
import { Button } from "../../../_ui/form/button";
import { type Width, WidthToggle } from "../../../_ui/form/width-toggle";
import { Tabs } from "../../../_ui/page/tabs";
import { cardStyle } from "../../../_ui/styles";
import { countErrors } from "../content/problems";
import { effectiveVariables, type Fields, type Samples, valuesOf } from "../fields";
import type { OpenTemplate } from "../state/use-template";
import { FRAME, frameDocument, imagesHref } from "./frame-document";
import type { Preview } from "./use-preview";

const WIDTHS: Record<Width, string> = { desktop: "100%", mobile: "375px" };

type Props = {
  teamId: string;
  id: string;
  template: OpenTemplate;
  preview: Preview;
  samples: Samples;
  onTextRequested: (isRequested: boolean) => void;
};

/** The preview of the email beside the editor. */
export function PreviewPane({ teamId, id, template, preview, samples, onTextRequested }: Props) {
  const { fields, base, isDirty } = template;
  const [width, setWidth] = useState<Width>("desktop");
  const [showsImages, setShowsImages] = useState(false);
  const source = useMemo(() => frameDocument(preview.html), [preview.html]);
  const values = valuesOf(effectiveVariables(fields), samples);
  const imagesUrl = imagesHref({ teamId, id, revision: base.revision, html: fields.html, values });
  const subject = fields.subject.trim();
  const textKind = fields.text === null ? "generated" : fields.text === "" ? "none" : "written";
  const { result } = preview;
  const withImages = showsImages && imagesUrl !== null;
  const frame = {
    title: "Email preview",
    ...FRAME,
    style: { width: WIDTHS[width], colorScheme: "light" },
    className: "h-[34.5rem] max-w-full bg-white xl:h-auto",
  } as const;
  const missing = result?.missing ?? [];
  return (
    <>
      {/* At least as tall as the content beside it. */}
      <section
        aria-label="Preview"
        aria-busy={preview.isStale}
        className={`${cardStyle} overflow-hidden xl:flex xl:min-h-[45.1875rem] xl:flex-col`}
      >
        <div className="flex min-h-14 items-center gap-3 border-line border-b px-4 py-2.5">
          <p className="min-w-0 grow break-words">
            <span className="sr-only">Subject: </span>
            {subject ? (
              <span className="font-medium">{result?.subject ?? subject}</span>
            ) : (
              <span className="text-soft">No subject: each send must provide one</span>
            )}
          </p>
          <p role="status" className="text-soft text-xs md:whitespace-nowrap">
            {formatState(preview, fields)}
          </p>
          <WidthToggle value={width} onChange={setWidth} />
        </div>
        <Tabs
          label="Preview format"
          className="border-0 xl:flex xl:grow xl:flex-col"
          panelClassName="xl:flex xl:grow xl:flex-col"
          onValueChange={(value) => onTextRequested(value === "text")}
          tabs={[
            {
              value: "html",
              label: "HTML",
              content: (
                <div className="relative flex grow justify-center overflow-hidden bg-sunk">
                  {withImages ? (
                    <iframe key={imagesUrl} {...frame} src={imagesUrl} />
                  ) : (
                    <iframe key={source} {...frame} srcDoc={source} />
                  )}
                  {imagesUrl !== null && !showsImages ? (
                    <Button
                      isSmall
                      onClick={() => setShowsImages(true)}
                      title="Images load from other hosts, which can record the view"
                      className="absolute right-3 bottom-3 shadow-sm"
                    >
                      <ImageOff className="size-4" aria-hidden="true" /> Load images
                    </Button>
                  ) : null}
                  {withImages ? (
                    <div className="absolute right-3 bottom-3 left-3 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-page px-3 py-2 shadow-sm">
                      <p className="mr-auto text-soft text-xs">
                        {isDirty ? "Last saved version, with images." : "Saved version, with images."}
                      </p>
                      <Button tone="quiet" isSmall onClick={() => setShowsImages(false)}>
                        Back to live preview
                      </Button>
                    </div>
                  ) : null}
                </div>
              ),
            },
            {
              value: "text",
              label: "Text",
              content: (
                <div className="min-h-[34.5rem] p-4">
                  <p className="mb-3 text-soft text-xs">{TEXT_NOTES[textKind]}</p>
                  {textKind === "none" ? null : (
                    <pre className="whitespace-pre-wrap break-words font-mono text-xs leading-5">
                      {result?.text}
                    </pre>
                  )}
                </div>
              ),
            },
          ]}
        />
      </section>
      {missing.length > 0 ? (
        <p className="mt-3 flex gap-2.5 px-1 text-soft text-xs leading-5">
          <CircleAlert className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
          <span className="min-w-0 break-words">
            {missing.join(", ")} {missing.length === 1 ? "has" : "have"} no sample value. Every send must
            provide {missing.length === 1 ? "it" : "them"}.
          </span>
        </p>
      ) : null}
    </>
  );
}

/** Shown unless the preview is that of the current content. */
function formatState({ state, result }: Preview, fields: Fields): string | null {
  if (state !== "blocked") return state === "updating" ? "Updating…" : null;
  const errors = countErrors(fields, result);
  return errors === 0
    ? "Preview not updated"
    : `Preview not updated: ${errors} ${errors === 1 ? "error" : "errors"}`;
}

const TEXT_NOTES = {
  generated: "Generated from the HTML, for email clients that do not display HTML.",
  written: "Your own text part.",
  none: "No text part. Text-only email clients show an empty email, and spam filters add a penalty.",
};
