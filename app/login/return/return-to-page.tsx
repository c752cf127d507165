"use client";

import Link from "next/link";
import { useEffect } from "react";
import { SIGNED_IN_CHANNEL } from "../../console/_ui/session/signed-out";
import { buttonStyle } from "../../console/_ui/styles";

/** Notifies the pages that wait for the sign-in, and closes this window if the browser permits it. */
export function ReturnToPage() {
  useEffect(() => {
    const channel = new BroadcastChannel(SIGNED_IN_CHANNEL);
    channel.postMessage("signed in");
    channel.close();
    window.close();
  }, []);
  return (
    <Link href="/console" className={`${buttonStyle.plain} h-10 w-full`}>
      Open the overview
    </Link>
  );
}
