"use client";

import { type FormEvent, useState } from "react";
import { SubmitButton, TextField } from "../../console/_ui/form";
import { askForLink } from "../calls";
import { LinkSent } from "../link-sent";

/** Asks for a link that opens the choice of another password. */
export function AskForm() {
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [mailedTo, setMailedTo] = useState<string | null>(null);

  const ask = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const email = String(new FormData(event.currentTarget).get("email"));
    setBusy(true);
    setFault(null);
    const told = await askForLink("password_reset", email, "/console");
    setBusy(false);
    if (told.ok) setMailedTo(email);
    else setFault(told.fault);
  };
  if (mailedTo !== null)
    return <LinkSent kind="password_reset" email={mailedTo} onBack={() => setMailedTo(null)} />;
  return (
    <form onSubmit={ask} className="flex flex-col gap-4">
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
        <SubmitButton isBusy={isBusy}>Mail me a link</SubmitButton>
      </div>
    </form>
  );
}
