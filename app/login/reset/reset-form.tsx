"use client";

import { type FormEvent, useState } from "react";
import { prove } from "../../auth-client";
import { SubmitButton, TextField } from "../../console/_ui/form";
import { resetPassword } from "../calls";
import { LinkState } from "../link-state";
import { NewPasswordField } from "../new-password";
import { useLink } from "../use-link";

const AGAIN = { href: "/login/forgot", label: "Ask for another link" };

/** Takes the new password, and signs in with it as anybody would, the second factor included. */
export function ResetForm() {
  const link = useLink("password_reset");
  const [isOver, setOver] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  if (isOver) return <LinkState link={{ state: "over" }} again={AGAIN} />;
  if (link.state !== "good") return <LinkState link={link} again={AGAIN} />;

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password"));
    setBusy(true);
    setFault(null);
    const told = await resetPassword(link.token, password);
    if (told.ok) {
      const result = await prove("credentials", { email: told.email, password }, "/console");
      return window.location.assign("to" in result ? result.to : "/login");
    }
    setBusy(false);
    if (told.isOver) setOver(true);
    else setFault(told.fault);
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label="Email address"
        name="email"
        type="email"
        autoComplete="username"
        value={link.email}
        readOnly
      />
      <NewPasswordField error={fault} />
      <div className="mt-2 *:w-full">
        <SubmitButton isBusy={isBusy}>Change the password</SubmitButton>
      </div>
    </form>
  );
}
