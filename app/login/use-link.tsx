"use client";

import Link from "next/link";
import { useEffect, useState } from "react";
import { buttonStyle } from "../console/_ui/styles";
import { type EmailedLink, readLink } from "./auth-requests";
import { useFragment } from "./use-fragment";

/** A valid link with its email address, or why it cannot be used; null while it is checked. */
type FollowedLink = { token: string; email: string } | { fault: string | null };

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

type LinkFaultProps = {
  /** Why the link cannot be used; null while it is checked. */
  fault: string | null;
  again: { href: string; label: string };
};

/**
 * Shown while a link is checked, or if it cannot be used. Has the height of the final form, to avoid a layout
 * shift.
 */
export function LinkFault({ fault, again }: LinkFaultProps) {
  if (fault === null)
    return (
      <p role="status" className="min-h-28 text-soft leading-6">
        Checking your link…
      </p>
    );
  return (
    <div className="flex min-h-28 flex-col gap-5 leading-6" role="status">
      <p>{fault}</p>
      <Link href={again.href} className={`${buttonStyle.plain} h-10`}>
        {again.label}
      </Link>
    </div>
  );
}
