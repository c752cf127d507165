"use client";

import { useEffect, useState } from "react";
import { type EmailedLink, readLink } from "./auth-requests";
import { useFragment } from "./use-fragment";

/** The state of the link in the URL. */
export type FollowedLink =
  | { state: "loading" }
  | { state: "valid"; token: string; email: string }
  | { state: "invalid" }
  | { state: "failed"; fault: string };

/** Reads the link from the URL fragment and gets its email address. This does not use the link. */
export function useLink(kind: EmailedLink): FollowedLink {
  const token = useFragment();
  const [link, setLink] = useState<FollowedLink>({ state: "loading" });
  useEffect(() => {
    if (token === null) return;
    if (token === "") return setLink({ state: "invalid" });
    let isCurrent = true;
    setLink({ state: "loading" });
    void readLink(kind, token).then((response) => {
      if (!isCurrent) return;
      if (response.ok) setLink({ state: "valid", token, email: response.email });
      else setLink(response.isFinal ? { state: "invalid" } : { state: "failed", fault: response.fault });
    });
    return () => {
      isCurrent = false;
    };
  }, [kind, token]);
  return link;
}
