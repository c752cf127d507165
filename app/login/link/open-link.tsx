"use client";

import { type FormEvent, useState } from "react";
import { prove, type SignInFault } from "../../auth-client";
import { SubmitButton } from "../../console/_ui/form";
import { LinkState } from "../link-state";
import { type FollowedLink, useLink } from "../use-link";

const AGAIN = { href: "/login", label: "Back to sign-in" };

const SAID: Record<Exclude<SignInFault, "refused">, string> = {
  too_many_tries: "Too many tries. Wait a minute and try again.",
  step_over: "That took too long. Sign in again.",
  unavailable: "Signing in does not work just now. Try again in a moment.",
};

/** One button, since the link is used by pressing it and by nothing else. */
export function OpenLink({ landing }: { landing: string }) {
  const link = useLink("sign_in_link");
  const [spent, setSpent] = useState<FollowedLink | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  if (spent && spent.state !== "good") return <LinkState link={spent} again={AGAIN} />;
  if (link.state !== "good") return <LinkState link={link} again={AGAIN} />;

  const open = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    const result = await prove("link", { token: link.token }, landing);
    if ("to" in result) return window.location.assign(result.to);
    setBusy(false);
    if (result.fault === "refused") setSpent({ state: "over" });
    else setFault(result.said ?? SAID[result.fault]);
  };
  return (
    <form onSubmit={open} className="flex min-h-28 flex-col gap-5 leading-6">
      <p className="break-words">
        You are about to sign in as <strong className="font-medium">{link.email}</strong>.
      </p>
      <div role="alert" className="empty:hidden">
        {fault ? <p className="rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad">{fault}</p> : null}
      </div>
      <SubmitButton isBusy={isBusy}>Sign in</SubmitButton>
    </form>
  );
}
