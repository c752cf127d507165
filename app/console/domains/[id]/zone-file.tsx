"use client";

import { ChevronRight, Download } from "lucide-react";
import { buttonStyle } from "../../_ui/styles";
import { CodeBlock } from "../../_ui/text/code-block";

/** All records as a BIND zone file, for import or for your own name servers. */
export function ZoneFile({ name, text }: { name: string; text: string }) {
  const download = () => {
    const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `${name}.zone`;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <details className="group mt-4">
      <summary className="flex min-h-9 w-fit list-none items-center gap-2 rounded text-soft hover:text-ink max-md:min-h-11 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          className="size-4 group-open:rotate-90 motion-safe:transition-transform"
          aria-hidden="true"
        />
        All records as a zone file
      </summary>
      <div className="mt-2 flex flex-col items-start gap-3">
        <div className="w-full min-w-0">
          <CodeBlock text={text} label={`${name}.zone`} language="BIND" />
        </div>
        <button type="button" onClick={download} className={`${buttonStyle.plain} h-9`}>
          <Download className="size-4" aria-hidden="true" /> Download
        </button>
      </div>
    </details>
  );
}
