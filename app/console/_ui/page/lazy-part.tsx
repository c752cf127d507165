"use client";

import { type ComponentType, lazy, Suspense } from "react";
import { checkConnection, whenConnected } from "../connection/connection";
import { Button } from "../form/button";

/**
 * A component whose code loads when it is first rendered, or by `preload`. Without a connection it loads when
 * the connection is back. If it cannot be loaded because a newer version was deployed, the rest of the page
 * stays and a notice says so.
 */
export const lazyPart = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  Object.assign(
    lazy(async () => ({ default: await loadPart(load) })),
    { preload: () => void load().catch(() => {}) },
  );

async function loadPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): Promise<ComponentType<Props>> {
  let wasConnected = false;
  for (;;) {
    try {
      return await load();
    } catch {
      // The connection can be back since the load failed, so one failure with a connection proves nothing.
      const isConnected = await checkConnection();
      if (isConnected && wasConnected) return MissingPart;
      wasConnected = isConnected;
      await whenConnected();
    }
  }
}

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

/** What was entered is not lost: the browser asks before it reloads a page with unsaved changes. */
const MissingPart = () => (
  <div
    role="alert"
    className="fixed inset-x-4 bottom-4 z-50 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-xl border border-line bg-page p-4 text-left font-normal text-ink text-sm shadow-lg md:left-auto md:w-96"
  >
    <p className="grow basis-56 whitespace-normal">
      This part of the page could not be loaded, because a newer version is running. Save what you entered
      first, then open that version.
    </p>
    <Button isSmall onClick={() => window.location.reload()}>
      Open new version
    </Button>
  </div>
);
