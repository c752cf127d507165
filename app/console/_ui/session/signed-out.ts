import { useSyncExternalStore } from "react";

/** The channel between windows on which a new sign-in is reported. */
export const SIGNED_IN_CHANNEL = "backstamp.signed-in";

let isSignedOut = false;
const listeners = new Set<() => void>();

const subscribe = (onChange: () => void) => {
  listeners.add(onChange);
  return () => {
    listeners.delete(onChange);
  };
};

/** Records that a call was rejected because the session has ended, or that the user has signed in again. */
export function setSignedOut(next: boolean): void {
  isSignedOut = next;
  for (const notify of listeners) notify();
}

/** Whether the session of this page has ended. */
export const useSignedOut = (): boolean =>
  useSyncExternalStore(
    subscribe,
    () => isSignedOut,
    () => false,
  );
