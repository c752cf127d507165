"use client";

import { useFragment } from "../login/use-fragment";

/** In this tab alone, for whoever goes to sign in first and comes back. */
const KEY = "posthorn.invitation";

/** What the link says: null until it is read, "" where there is none. It stays at hand until `forgetToken`. */
export function useInvitationToken(): string | null {
  const fragment = useFragment();
  if (fragment === null) return null;
  if (fragment !== "") window.sessionStorage.setItem(KEY, fragment);
  return fragment || (window.sessionStorage.getItem(KEY) ?? "");
}

/** To be called when it is spent, or opens nothing. */
export const forgetToken = (): void => window.sessionStorage.removeItem(KEY);
