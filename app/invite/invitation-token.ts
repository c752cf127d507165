"use client";

import { useEffect, useState } from "react";
import { useFragment } from "../login/use-fragment";

/** A session storage key: the token stays in this tab while the user signs in. */
const KEY = "backstamp.invitation";

/**
 * The token of the link. Null until it is read, "" if there is none. Stored in this tab until `clearToken`.
 */
export function useInvitationToken(): string | null {
  const fragment = useFragment();
  const [token, setToken] = useState<string | null>(null);
  useEffect(() => {
    if (fragment === null) return;
    if (fragment !== "") window.sessionStorage.setItem(KEY, fragment);
    setToken(fragment || (window.sessionStorage.getItem(KEY) ?? ""));
  }, [fragment]);
  return token;
}

/** Call this when the token is used or invalid. */
export const clearToken = (): void => window.sessionStorage.removeItem(KEY);
