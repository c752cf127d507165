"use client";

import Link from "next/link";
import { type FormEvent, useRef, useState } from "react";
import { type SignInFault, submitProof } from "../auth-client";
import { SubmitButton, TextField } from "../console/_ui/form/form";
import { buttonStyle, linkStyle } from "../console/_ui/styles";
import { requestLink } from "./auth-requests";
import { LinkSent } from "./link-sent";

const MESSAGES: Record<SignInFault, string> = {
  rejected: "Incorrect email or password.",
  too_many_attempts: "Too many attempts. Wait a minute and try again.",
  expired: "The sign-in expired. Sign in again.",
  unavailable: "Sign-in is temporarily unavailable. Try again in a moment.",
};

type LoginFormProps = {
  landing: string;
  /** Whether this installation can email links. */
  canSendEmail: boolean;
};

/** Signs in and opens `landing` with a full page load, which clears the data of a previous user from memory. */
export function LoginForm({ landing, canSendEmail }: LoginFormProps) {
  const [fault, setFault] = useState<string | null>(null);
  const [busyWith, setBusyWith] = useState<"password" | "link" | null>(null);
  const [linkSentTo, setLinkSentTo] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusyWith("password");
    setFault(null);
    const result = await submitProof(
      "credentials",
      { email: String(fields.get("email")), password: String(fields.get("password")) },
      landing,
    );
    if ("to" in result) return window.location.assign(result.to);
    setFault(result.message ?? MESSAGES[result.fault]);
    setBusyWith(null);
  };

  const emailLink = async () => {
    const field = form.current?.elements.namedItem("email");
    if (!(field instanceof HTMLInputElement) || !field.reportValidity()) return;
    setBusyWith("link");
    setFault(null);
    const response = await requestLink("sign_in_link", field.value, landing);
    setBusyWith(null);
    if (response.ok) setLinkSentTo(field.value);
    else setFault(response.fault);
  };

  if (linkSentTo !== null)
    return <LinkSent kind="sign_in_link" email={linkSentTo} onBack={() => setLinkSentTo(null)} />;
  return (
    // POST: without JavaScript, a GET submit would put the password into the URL.
    <form ref={form} method="post" action="/login" onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label="Email address"
        name="email"
        type="email"
        autoComplete="username"
        required
        maxLength={320}
      />
      <div className="relative">
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          maxLength={256}
        />
        {/* After the field in tab order, but shown next to its label. */}
        <Link href="/login/forgot" className={`${linkStyle} absolute top-0 right-0 text-xs leading-5`}>
          Forgot password?
        </Link>
      </div>
      <div role="alert" className="empty:hidden">
        {fault ? <p className="rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad leading-6">{fault}</p> : null}
      </div>
      <div className="mt-2 flex flex-col gap-2.5 *:w-full">
        <SubmitButton isBusy={busyWith === "password"} disabled={busyWith !== null}>
          Sign in
        </SubmitButton>
        {canSendEmail ? (
          <button
            type="button"
            onClick={emailLink}
            disabled={busyWith !== null}
            className={`${buttonStyle.plain} h-10`}
          >
            Email me a link
          </button>
        ) : null}
      </div>
    </form>
  );
}
