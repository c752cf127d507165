"use client";

import { useEffect, useState } from "react";
import { lookAtLink, type MailedLink } from "./calls";
import { useFragment } from "./use-fragment";

/** What is known of the link that was followed. */
export type FollowedLink =
  | { state: "looking" }
  | { state: "good"; token: string; email: string }
  | { state: "over" }
  | { state: "fault"; fault: string };

/** Reads the link in the address and asks whose it is, which does not use it. */
export function useLink(kind: MailedLink): FollowedLink {
  const token = useFragment();
  const [link, setLink] = useState<FollowedLink>({ state: "looking" });
  useEffect(() => {
    if (token === null) return;
    if (token === "") return setLink({ state: "over" });
    let isCurrent = true;
    setLink({ state: "looking" });
    void lookAtLink(kind, token).then((told) => {
      if (!isCurrent) return;
      if (told.ok) setLink({ state: "good", token, email: told.email });
      else setLink(told.isOver ? { state: "over" } : { state: "fault", fault: told.fault });
    });
    return () => {
      isCurrent = false;
    };
  }, [kind, token]);
  return link;
}
