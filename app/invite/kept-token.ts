"use client";

import { useEffect, useState } from "react";
import { useFragment } from "../login/use-fragment";

/** In this tab alone, for whoever goes to sign in first and comes back. */
const KEY = "posthorn.invitation";

/** What the link says: null until it is read, "" where there is none. It stays at hand until `forgetToken`. */
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

/** To be called when it is spent, or opens nothing. */
export const forgetToken = (): void => window.sessionStorage.removeItem(KEY);
