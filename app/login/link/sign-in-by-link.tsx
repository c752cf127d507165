"use client";

import { type FormEvent, useState } from "react";
import { type SignInFault, submitProof } from "../../auth-client";
import { SubmitButton } from "../../console/_ui/form/form";
import { LinkState } from "../link-state";
import { type FollowedLink, useLink } from "../use-link";

const BACK = { href: "/login", label: "Back to sign-in" };

const MESSAGES: Record<Exclude<SignInFault, "rejected">, string> = {
  too_many_attempts: "Too many attempts. Wait a minute and try again.",
  expired: "The sign-in expired. Sign in again.",
  unavailable: "Sign-in is temporarily unavailable. Try again in a moment.",
};

/** Signs in with an emailed link. Only the button uses the link. */
export function SignInByLink({ landing }: { landing: string }) {
  const link = useLink("sign_in_link");
  const [used, setUsed] = useState<FollowedLink | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  if (used && used.state !== "valid") return <LinkState link={used} again={BACK} />;
  if (link.state !== "valid") return <LinkState link={link} again={BACK} />;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFault(null);
    const result = await submitProof("link", { token: link.token }, landing);
    if ("to" in result) return window.location.assign(result.to);
    setBusy(false);
    if (result.fault === "rejected") setUsed({ state: "invalid" });
    else setFault(result.message ?? MESSAGES[result.fault]);
  };
  return (
    <form onSubmit={submit} className="flex min-h-28 flex-col gap-5 leading-6">
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
