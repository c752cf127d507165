"use client";

import { type FormEvent, useState } from "react";
import { SubmitButton, TextField } from "../../console/_ui/form/form";
import { requestLink } from "../auth-requests";
import { LinkSent } from "../link-sent";

/** Requests a password reset link. */
export function RequestForm() {
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [linkSentTo, setLinkSentTo] = useState<string | null>(null);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const email = String(new FormData(event.currentTarget).get("email"));
    setBusy(true);
    setFault(null);
    const response = await requestLink("password_reset", email, "/console");
    setBusy(false);
    if (response.ok) setLinkSentTo(email);
    else setFault(response.fault);
  };
  if (linkSentTo !== null)
    return <LinkSent kind="password_reset" email={linkSentTo} onBack={() => setLinkSentTo(null)} />;
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label="Email address"
        name="email"
        type="email"
        autoComplete="username"
        required
        maxLength={320}
        error={fault}
      />
      <div className="mt-2 *:w-full">
        <SubmitButton isBusy={isBusy}>Email me a link</SubmitButton>
      </div>
    </form>
  );
}
