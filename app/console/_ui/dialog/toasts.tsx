"use client";

import { createStore } from "../connection/store";
import type { Fault } from "../fault";
import { lazyDialog } from "../page/lazy-part";

const loadToast = () => import("sonner");
const Toaster = lazyDialog(async () => (await import("./toaster")).Toaster);

/** Long enough to read the text, decide, and reach the button by keyboard. */
const undoableMs = 15_000;

const requested = createStore(false);

/** Displays toasts. The code loads with the first one. */
export const Toasts = () => (requested.use() ? <Toaster /> : null);

/** Loads the code of toasts while a call is in progress that will show one. */
export const preloadToasts = (): void => requested.set(true);

/** Shows a success message. */
export function showSuccess(text: string): void {
  withToasts(({ toast }) => toast.success(text));
}

/** Shows a success message with an "Undo" button for 15 seconds. */
export const showUndo = (text: string, undo: () => void): void =>
  showAction(text, { label: "Undo", onClick: undo });

/** Shows a success message with a button that changes it back, for 15 seconds. */
export function showAction(text: string, action: { label: string; onClick: () => void }): void {
  withToasts(({ toast }) => toast.success(text, { duration: undoableMs, action }));
}

/** Shows an error with its request id until the user closes it. */
export function showError({ message, requestId }: Fault): void {
  const description = requestId ? { description: `Request ${requestId}` } : {};
  withToasts(({ toast }) => toast.error(message, { duration: Number.POSITIVE_INFINITY, ...description }));
}

function withToasts(show: (toasts: Awaited<ReturnType<typeof loadToast>>) => unknown): void {
  preloadToasts();
  // If this load fails, the service is unreachable. The lists on the page show that themselves.
  loadToast().then(show, () => {});
}
