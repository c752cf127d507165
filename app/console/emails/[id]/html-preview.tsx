"use client";

import { ImageOff } from "lucide-react";
import { useState } from "react";
import { Button } from "../../_ui/form/button";
import { type Width, WidthToggle } from "../../_ui/form/width-toggle";

const WIDTHS: Record<Width, string> = { desktop: "100%", mobile: "375px" };

type Props = { teamId: string; id: string; hasRemoteImages: boolean };

/**
 * The message in a sandboxed document without scripts, forms or access to this page. Its images are on other hosts, which
 * would learn that the email was viewed, so they load only on request.
 */
export function HtmlPreview({ teamId, id, hasRemoteImages }: Props) {
  const [width, setWidth] = useState<Width>("desktop");
  const [showsImages, setShowsImages] = useState(false);
  const query = new URLSearchParams({ team: teamId, ...(showsImages ? { images: "1" } : {}) });
  return (
    <>
      <div className="flex min-h-12 flex-wrap items-center gap-2 border-line border-b px-3 py-2">
        <WidthToggle value={width} onChange={setWidth} />
        {hasRemoteImages && !showsImages ? (
          <Button
            tone="quiet"
            isSmall
            Icon={ImageOff}
            onClick={() => setShowsImages(true)}
            className="ml-auto"
            title="Images load from other hosts, which can record the view"
          >
            Load images
          </Button>
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
