"use client";

import { type ComponentType, lazy, Suspense } from "react";
import { Button } from "../form/button";

/**
 * A component whose code loads when it is first rendered, or by `preload`. If the load fails (connection
 * lost, or a newer version was deployed), the rest of the page stays and a notice offers to reload it.
 */
export const lazyPart = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  Object.assign(
    lazy(
      async (): Promise<{ default: ComponentType<Props> }> => ({
        default: await load().catch(() => MissingPart),
      }),
    ),
    { preload: () => void load().catch(() => {}) },
  );

/** The same for a dialog or another overlay: until its code is loaded, nothing is shown. */
export function lazyDialog<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  const part = lazyPart(load);
  const Part: ComponentType<Props> = part;
  const LazyDialog = (props: Props) => (
    <Suspense>
      <Part {...props} />
    </Suspense>
  );
  return Object.assign(LazyDialog, { preload: part.preload });
}

const MissingPart = () => (
  <div
    role="alert"
    className="fixed inset-x-4 bottom-4 z-50 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border border-line bg-page p-4 text-left font-normal text-ink text-sm shadow-lg md:left-auto md:w-96"
  >
    <p className="grow basis-56 whitespace-normal">
      This part of the page could not be loaded. The connection was lost, or a newer version is running.
    </p>
    <Button isSmall onClick={() => window.location.reload()}>
      Reload page
    </Button>
  </div>
);
