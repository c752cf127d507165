"use client";

import { useQueryClient } from "@tanstack/react-query";
import { type MouseEvent, useEffect } from "react";
import { loadPage } from "../connection/connection";
import { Dialog } from "../dialog/dialog";
import { Button } from "../form/button";
import { buttonStyle } from "../styles";
import { useTRPC } from "../trpc";
import { SIGNED_IN_CHANNEL, setSignedOut } from "./signed-out";

const windowName = "backstamp-sign-in";
const signInPath = `/login?callbackUrl=${encodeURIComponent("/login/return")}`;

/**
 * The dialog above a page whose session has ended. The sign-in opens in its own window, with every method
 * that the sign-in page has. After it, the dialog closes and the page reads its data again. Another user gets
 * a new page.
 */
export function SignInAgain({ email }: { email: string }) {
  const trpc = useTRPC();
  const queries = useQueryClient();
  useEffect(() => {
    const check = async () => {
      const current = { ...trpc.profile.get.queryOptions(), staleTime: 0, retry: false };
      const user = await queries.fetchQuery(current).catch(() => null);
      if (user === null) return;
      if (user.email !== email) return window.location.reload();
      setSignedOut(false);
      await queries.invalidateQueries();
    };
    const onFocus = () => void check();
    const channel = new BroadcastChannel(SIGNED_IN_CHANNEL);
    channel.onmessage = onFocus;
    window.addEventListener("focus", onFocus);
    // A response from before a new sign-in can arrive after it and open this dialog again.
    void check();
    return () => {
      channel.close();
      window.removeEventListener("focus", onFocus);
    };
  }, [trpc, queries, email]);

  return (
    <Dialog
      role="alertdialog"
      isPersistent
      onOpenChange={() => {}}
      title="Your session has expired"
      footer={
        <>
          <Button data-dismiss="" onClick={leave}>
            Leave page
          </Button>
          <a
            href={signInPath}
            target={windowName}
            onClick={openWindow}
            className={`${buttonStyle.primary} h-10`}
          >
            Sign in
          </a>
        </>
      }
    >
      <p className="break-words text-soft leading-6">
        Sign in as {email} in a new window. Everything that you entered on this page stays, and can then be
        submitted.
      </p>
    </Dialog>
  );
}

/**
 * A window that a script opened can close itself after the sign-in. If the browser blocks it, the link opens
 * a tab.
 */
function openWindow(event: MouseEvent): void {
  if (window.open(signInPath, windowName, "popup,width=520,height=760")) event.preventDefault();
}

function leave(): void {
  const here = `${window.location.pathname}${window.location.search}`;
  void loadPage(`/login?callbackUrl=${encodeURIComponent(here)}`);
}
