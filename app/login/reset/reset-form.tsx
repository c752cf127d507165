"use client";

import { type FormEvent, useState } from "react";
import { submitProof } from "../../auth-client";
import { SubmitButton, TextField } from "../../console/_ui/form/form";
import { resetPassword } from "../auth-requests";
import { LinkState } from "../link-state";
import { NewPasswordField } from "../new-password";
import { useLink } from "../use-link";

const REQUEST_LINK = { href: "/login/forgot", label: "Request a new link" };

/** Sets a new password, then signs in with it. Sign-in requires 2FA as usual. */
export function ResetForm() {
  const link = useLink("password_reset");
  const [isFinal, setFinal] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  if (isFinal) return <LinkState link={{ state: "invalid" }} again={REQUEST_LINK} />;
  if (link.state !== "valid") return <LinkState link={link} again={REQUEST_LINK} />;

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get("password"));
    setBusy(true);
    setFault(null);
    const response = await resetPassword(link.token, password);
    if (response.ok) {
      const result = await submitProof("credentials", { email: response.email, password }, "/console");
      return window.location.assign("to" in result ? result.to : "/login");
    }
    setBusy(false);
    if (response.isFinal) setFinal(true);
    else setFault(response.fault);
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
        <SubmitButton isBusy={isBusy}>Change password</SubmitButton>
      </div>
    </form>
  );
}
