"use client";

import Link from "next/link";
import { type FormEvent, useRef, useState } from "react";
import { prove, type SignInFault } from "../auth-client";
import { SubmitButton, TextField } from "../console/_ui/form";
import { buttonStyle, linkStyle } from "../console/_ui/styles";
import { askForLink } from "./calls";
import { LinkSent } from "./link-sent";

const SAID: Record<SignInFault, string> = {
  refused: "That address and password do not belong together.",
  too_many_tries: "Too many tries. Wait a minute and try again.",
  step_over: "That took too long. Sign in again.",
  unavailable: "Signing in does not work just now. Try again in a moment.",
};

type LoginFormProps = {
  landing: string;
  /** Whether this installation can mail links. */
  sendsMail: boolean;
};

/** Signs in and goes to `landing`, by a load of its own so that nothing of an earlier person stays in memory. */
export function LoginForm({ landing, sendsMail }: LoginFormProps) {
  const [fault, setFault] = useState<string | null>(null);
  const [busyWith, setBusyWith] = useState<"password" | "link" | null>(null);
  const [mailedTo, setMailedTo] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusyWith("password");
    setFault(null);
    const result = await prove(
      "credentials",
      { email: String(fields.get("email")), password: String(fields.get("password")) },
      landing,
    );
    if ("to" in result) return window.location.assign(result.to);
    setFault(result.said ?? SAID[result.fault]);
    setBusyWith(null);
  };

  const mailLink = async () => {
    const field = form.current?.elements.namedItem("email");
    if (!(field instanceof HTMLInputElement) || !field.reportValidity()) return;
    setBusyWith("link");
    setFault(null);
    const told = await askForLink("sign_in_link", field.value, landing);
    setBusyWith(null);
    if (told.ok) setMailedTo(field.value);
    else setFault(told.fault);
  };

  if (mailedTo !== null)
    return <LinkSent kind="sign_in_link" email={mailedTo} onBack={() => setMailedTo(null)} />;
  return (
    // Without scripts nothing may be sent: a GET would put the password into the address.
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
        {/* Behind the field in the order of the keyboard, beside its label for the eye. */}
        <Link href="/login/forgot" className={`${linkStyle} absolute top-0 right-0 text-xs leading-5`}>
          Forgot it?
        </Link>
      </div>
      <div role="alert" className="empty:hidden">
        {fault ? <p className="rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad leading-6">{fault}</p> : null}
      </div>
      <div className="mt-2 flex flex-col gap-2.5 *:w-full">
        <SubmitButton isBusy={busyWith === "password"} disabled={busyWith !== null}>
          Sign in
        </SubmitButton>
        {sendsMail ? (
          <button
            type="button"
            onClick={mailLink}
            disabled={busyWith !== null}
            className={`${buttonStyle.plain} h-10`}
          >
            Mail me a link
          </button>
        ) : null}
      </div>
    </form>
  );
}
