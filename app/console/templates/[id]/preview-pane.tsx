"use client";

import { CircleAlert, ImageOff, Monitor, Smartphone } from "lucide-react";
import { ToggleGroup } from "radix-ui";
import { useMemo, useState } from "react";
import { buttonStyle, cardStyle } from "../../_ui/styles";
import { Tabs } from "../../_ui/tabs";
import { frameDocument } from "./frame-document";
import type { Preview } from "./use-preview";

const WIDTHS = { desktop: "100%", mobile: "375px" } as const;
type Width = keyof typeof WIDTHS;

type Props = {
  preview: Preview;
  /** As it is written: shown until it is filled in, and where it cannot be. */
  subject: string;
  /** The template is sent without a text part, or with one that is made from the HTML. */
  textKind: "none" | "made" | "written";
  /** Where the saved draft is shown with its pictures; null where there are none, or the values are too long for it. */
  imagesHref: string | null;
  isDirty: boolean;
  onTextWanted: (isWanted: boolean) => void;
};

/** What a reader of the mail would see, beside the editor. */
export function PreviewPane(props: Props) {
  const { preview, subject, textKind, imagesHref, isDirty, onTextWanted } = props;
  const [width, setWidth] = useState<Width>("desktop");
  const [showsImages, setShowsImages] = useState(false);
  const source = useMemo(() => frameDocument(preview.html), [preview.html]);
  const { said } = preview;
  const withImages = showsImages && imagesHref !== null;
  const frame = {
    title: "The mail as its reader sees it",
    sandbox: "",
    referrerPolicy: "no-referrer",
    style: { width: WIDTHS[width], colorScheme: "light" },
    className: "h-[34.5rem] max-w-full bg-white",
  } as const;
  const missing = said?.missing ?? [];
  return (
    <>
      <section aria-label="Preview" aria-busy={preview.isStale} className={`${cardStyle} overflow-hidden`}>
        <div className="flex min-h-14 items-center gap-3 border-line border-b px-4 py-2.5">
          <p className="min-w-0 grow break-words">
            <span className="sr-only">Subject: </span>
            {subject ? (
              <span className="font-medium">{said?.subject ?? subject}</span>
            ) : (
              <span className="text-soft">No subject: each send has to give one</span>
            )}
          </p>
          <WidthToggle width={width} onChange={setWidth} />
        </div>
        <Tabs
          label="Preview of"
          className="border-0"
          onValueChange={(value) => onTextWanted(value === "text")}
          tabs={[
            {
              value: "html",
              label: "HTML",
              content: (
                <div className="relative flex justify-center overflow-hidden bg-sunk">
                  {withImages ? (
                    <iframe {...frame} src={imagesHref} />
                  ) : (
                    <iframe {...frame} srcDoc={source} />
                  )}
                  {imagesHref !== null && !showsImages ? (
                    <button
                      type="button"
                      onClick={() => setShowsImages(true)}
                      title="They come from other hosts, which learn that somebody looked"
                      className={`${buttonStyle.plain} absolute right-3 bottom-3 h-9 shadow-sm`}
                    >
                      <ImageOff className="size-4" aria-hidden="true" /> Load images
                    </button>
                  ) : null}
                  {withImages ? (
                    <div className="absolute right-3 bottom-3 left-3 flex flex-wrap items-center gap-2 rounded-lg border border-line bg-page px-3 py-2 shadow-sm">
                      <p className="mr-auto text-soft text-xs">
                        {isDirty ? "With images, as it was saved last." : "With images, as it is saved."}
                      </p>
                      <button
                        type="button"
                        onClick={() => setShowsImages(false)}
                        className={`${buttonStyle.quiet} h-8`}
                      >
                        Back to the live preview
                      </button>
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
                      {said?.text}
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
            {missing.join(", ")} {missing.length === 1 ? "has" : "have"} no sample value, and every send must
            bring {missing.length === 1 ? "it" : "them"}.
          </span>
        </p>
      ) : null}
    </>
  );
}

const TEXT_NOTES: Record<Props["textKind"], string> = {
  made: "Made from the HTML, for readers whose program shows no HTML.",
  written: "As you wrote it.",
  none: "This mail has no text part. Programs that show no HTML show nothing, and spam filters count it.",
};

function WidthToggle({ width, onChange }: { width: Width; onChange: (width: Width) => void }) {
  const toggle = `${buttonStyle.quiet} size-8 px-0 data-[state=on]:bg-mute-tint data-[state=on]:text-ink max-md:size-11`;
  return (
    <ToggleGroup.Root
      type="single"
      aria-label="Width"
      value={width}
      onValueChange={(value) => {
        if (value === "desktop" || value === "mobile") onChange(value);
      }}
      className="flex shrink-0 gap-1"
    >
      <ToggleGroup.Item value="desktop" aria-label="Desktop width" title="Desktop width" className={toggle}>
        <Monitor className="size-4" aria-hidden="true" />
      </ToggleGroup.Item>
      <ToggleGroup.Item value="mobile" aria-label="Phone width" title="Phone width" className={toggle}>
        <Smartphone className="size-4" aria-hidden="true" />
      </ToggleGroup.Item>
    </ToggleGroup.Root>
  );
}
