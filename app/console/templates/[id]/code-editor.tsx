"use client";

import { Suspense, useSyncExternalStore } from "react";
import { lazyPart } from "../../_ui/lazy-part";
import { Skeleton } from "../../_ui/skeleton";
import type { EditorProps } from "./code-mirror";

const CodeMirror = lazyPart(async () => (await import("./code-mirror")).CodeMirror);

const never = () => () => {};

/** The editor, whose code is larger than the rest of the page and comes after it. Until then its place is kept. */
export function CodeEditor(props: EditorProps) {
  const isAwake = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  const waiting = (
    <div aria-busy="true" className="flex flex-col gap-3 p-4">
      {["w-2/5", "w-3/5", "w-1/2", "w-4/5", "w-1/3"].map((width) => (
        <Skeleton key={width} className={`h-3 ${width}`} />
      ))}
    </div>
  );
  if (!isAwake) return waiting;
  return (
    <Suspense fallback={waiting}>
      <CodeMirror {...props} />
    </Suspense>
  );
}
