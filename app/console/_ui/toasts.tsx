"use client";

import { Suspense, useSyncExternalStore } from "react";
import type { Fault } from "./fault";
import { lazyPart } from "./lazy-part";

const load = () => import("./toaster");
const loadToast = () => import("sonner");
const Toaster = lazyPart(async () => (await load()).Toaster);

/** Long enough to read it, find the button by the keyboard, and think. */
const undoableMs = 15_000;

let isWanted = false;
let tell = () => {};
const subscribe = (onChange: () => void) => {
  tell = onChange;
  return () => {
    tell = () => {};
  };
};
const never = () => false;

/** Where toasts appear. Their code comes with the first one. */
export function Toasts() {
  const isThere = useSyncExternalStore(subscribe, () => isWanted, never);
  if (!isThere) return null;
  return (
    <Suspense>
      <Toaster />
    </Suspense>
  );
}

/** Fetches the code of toasts while a call is under way whose end will need it. */
export function prepareToasts(): void {
  isWanted = true;
  tell();
}

/** Says in passing that something is done. */
export function sayDone(text: string): void {
  withToasts(({ toast }) => toast.success(text));
}

/** Says in passing that something is gone, and for a while gives it back. */
export function sayUndoable(text: string, undo: () => void): void {
  withToasts(({ toast }) =>
    toast.success(text, { duration: undoableMs, action: { label: "Undo", onClick: undo } }),
  );
}

/** Says that something was refused or failed, with the number to find it by; stays until it is put away. */
export function sayFault({ message, requestId }: Fault): void {
  const description = requestId ? { description: `Request ${requestId}` } : {};
  withToasts(({ toast }) => toast.error(message, { duration: Number.POSITIVE_INFINITY, ...description }));
}

function withToasts(say: (toasts: Awaited<ReturnType<typeof loadToast>>) => unknown): void {
  prepareToasts();
  // Where even this cannot be fetched the whole service is away, which the lists on the page say by themselves.
  loadToast().then(say, () => {});
}
