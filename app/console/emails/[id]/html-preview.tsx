"use client";

import { ImageOff, Monitor, Smartphone } from "lucide-react";
import { ToggleGroup } from "radix-ui";
import { useState } from "react";
import { buttonStyle } from "../../_ui/styles";

const WIDTHS = { desktop: "100%", mobile: "375px" } as const;
type Width = keyof typeof WIDTHS;

type Props = { teamId: string; id: string; hasRemoteImages: boolean };

/**
 * The message in a sandboxed document without scripts, forms or access to this page. Its images are on other hosts, which
 * would learn that the email was viewed, so they load only on request.
 */
export function HtmlPreview({ teamId, id, hasRemoteImages }: Props) {
  const [width, setWidth] = useState<Width>("desktop");
  const [showsImages, setShowsImages] = useState(false);
  const query = new URLSearchParams({ team: teamId, ...(showsImages ? { images: "1" } : {}) });
  const toggle = `${buttonStyle.quiet} size-8 px-0 data-[state=on]:bg-mute-tint data-[state=on]:text-ink`;
  return (
    <>
      <div className="flex min-h-12 flex-wrap items-center gap-2 border-line border-b px-3 py-2">
        <ToggleGroup.Root
          type="single"
          aria-label="Width"
          value={width}
          onValueChange={(value) => {
            if (value === "desktop" || value === "mobile") setWidth(value);
          }}
          className="flex gap-1"
        >
          <ToggleGroup.Item
            value="desktop"
            aria-label="Desktop width"
            title="Desktop width"
            className={toggle}
          >
            <Monitor className="size-4" aria-hidden="true" />
          </ToggleGroup.Item>
          <ToggleGroup.Item value="mobile" aria-label="Phone width" title="Phone width" className={toggle}>
            <Smartphone className="size-4" aria-hidden="true" />
          </ToggleGroup.Item>
        </ToggleGroup.Root>
        {hasRemoteImages && !showsImages ? (
          <button
            type="button"
            onClick={() => setShowsImages(true)}
            className={`${buttonStyle.quiet} ml-auto h-8`}
            title="Images load from other hosts, which can record the view"
          >
            <ImageOff className="size-4" aria-hidden="true" /> Load images
          </button>
        ) : null}
      </div>
      <div className="flex justify-center overflow-hidden rounded-b-xl bg-sunk">
        <iframe
          title="Message preview"
          sandbox=""
          referrerPolicy="no-referrer"
          src={`/console/emails/${encodeURIComponent(id)}/body?${query}`}
          style={{ width: WIDTHS[width], colorScheme: "light" }}
          className="h-[24rem] max-w-full bg-white md:h-[40rem]"
        />
      </div>
    </>
  );
}
