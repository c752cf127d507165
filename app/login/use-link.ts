"use client";

import { useEffect, useState } from "react";
import { type EmailedLink, readLink } from "./auth-requests";
import { useFragment } from "./use-fragment";

/** A valid link with its email address, or why it cannot be used; null while it is checked. */
export type FollowedLink = { token: string; email: string } | { fault: string | null };

export const INVALID_LINK =
  "This link is not valid. It was already used, has expired or is incomplete. Request a new one.";

/** Reads the link from the URL fragment and gets its email address. This does not use the link. */
export function useLink(kind: EmailedLink): FollowedLink {
  const token = useFragment();
  const [link, setLink] = useState<FollowedLink>({ fault: null });
  useEffect(() => {
    if (token === null) return;
    if (token === "") return setLink({ fault: INVALID_LINK });
    let isCurrent = true;
    setLink({ fault: null });
    void readLink(kind, token).then((response) => {
      if (!isCurrent) return;
      if (response.ok) setLink({ token, email: response.email });
      else setLink({ fault: response.isFinal ? INVALID_LINK : response.fault });
    });
    return () => {
      isCurrent = false;
    };
  }, [kind, token]);
  return link;
}
