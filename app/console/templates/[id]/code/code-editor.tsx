"use client";

import { Suspense } from "react";
import { Skeleton } from "../../../_ui/list/skeleton";
import { lazyPart } from "../../../_ui/page/lazy-part";
import { useIsHydrated } from "../../../_ui/text/when";
import type { EditorProps } from "./code-mirror";

const CodeMirror = lazyPart(async () => (await import("./code-mirror")).CodeMirror);

/**
 * Loads the code editor after the page, because its code is larger than the rest. A placeholder keeps its
 * space.
 */
export function CodeEditor(props: EditorProps) {
  const isHydrated = useIsHydrated();
  const placeholder = (
    <div aria-busy="true" className="flex flex-col gap-3 p-4">
      {["w-2/5", "w-3/5", "w-1/2", "w-4/5", "w-1/3"].map((width) => (
        <Skeleton key={width} className={`h-3 ${width}`} />
      ))}
    </div>
  );
  if (!isHydrated) return placeholder;
  return (
    <Suspense fallback={placeholder}>
      <CodeMirror {...props} />
    </Suspense>
  );
}
