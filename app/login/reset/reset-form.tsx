"use client";

import type { FormEvent } from "react";
import { signInWithPassword } from "../../auth-client";
import { resetPassword } from "../auth-requests";
import { EmailField, NewPasswordField, takeFields, WideSubmitButton } from "../fields";
import { INVALID_LINK, LinkFault, useLink } from "../use-link";
import { useStep } from "../use-step";

const REQUEST_LINK = { href: "/login/forgot", label: "Request a new link" };

/** Sets a new password, then signs in with it. Sign-in requires 2FA as usual. */
export function ResetForm() {
  const link = useLink("password_reset");
  const { isBusy, fault, run } = useStep();
  if (fault === INVALID_LINK) return <LinkFault fault={fault} again={REQUEST_LINK} />;
  if ("fault" in link) return <LinkFault fault={link.fault} again={REQUEST_LINK} />;

  const submit = (event: FormEvent<HTMLFormElement>) => {
    const { password } = takeFields(event, "password");
    void run("reset", async () => {
      const response = await resetPassword(link.token, password);
      if (!response.ok) return response.isFinal ? INVALID_LINK : response.fault;
      await signInWithPassword(response.email, password);
      return null;
    });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <EmailField value={link.email} />
      <NewPasswordField error={fault} />
      <WideSubmitButton isBusy={isBusy}>Change password</WideSubmitButton>
    </form>
  );
}
