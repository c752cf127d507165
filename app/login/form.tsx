"use client";

import Link from "next/link";
import { type FormEvent, useRef, useState } from "react";
import { submitProof } from "../auth-client";
import { Button } from "../console/_ui/form/button";
import { SubmitButton, TextField } from "../console/_ui/form/form";
import { FormFault } from "../console/_ui/form/form-fault";
import { linkStyle } from "../console/_ui/styles";
import { requestLink } from "./auth-requests";
import { EmailField } from "./fields";
import { LinkSent } from "./link-sent";
import { openNextPage, SIGN_IN_MESSAGES } from "./messages";
import { useStep } from "./use-step";

type LoginFormProps = {
  landing: string;
  /** Whether this installation can email links. */
  canSendEmail: boolean;
};

/** Signs in with a password and opens `landing`, or requests an emailed link. */
export function LoginForm({ landing, canSendEmail }: LoginFormProps) {
  const { busyWith, isBusy, fault, run, reset } = useStep();
  const [linkSentTo, setLinkSentTo] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [email, password] = [String(fields.get("email")), String(fields.get("password"))];
    void run("password", async () =>
      openNextPage(await submitProof("credentials", { email, password }, landing), SIGN_IN_MESSAGES),
    );
  };
  const emailLink = () => {
    const field = form.current?.elements.namedItem("email");
    if (!(field instanceof HTMLInputElement) || !field.reportValidity()) return;
    void run("link", async () => {
      const response = await requestLink("sign_in_link", field.value, landing);
      if (!response.ok) return response.fault;
      setLinkSentTo(field.value);
      return null;
    });
  };
  const goBack = () => {
    setLinkSentTo(null);
    reset();
  };

  if (linkSentTo !== null) return <LinkSent kind="sign_in_link" email={linkSentTo} onBack={goBack} />;
  return (
    // POST: without JavaScript, a GET submit would put the password into the URL.
    <form ref={form} method="post" action="/login" onSubmit={submit} className="flex flex-col gap-4">
      <EmailField />
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
      <FormFault fault={fault} />
      <div className="mt-2 flex flex-col gap-2.5 *:w-full">
        <SubmitButton isBusy={busyWith === "password"} disabled={isBusy}>
          Sign in
        </SubmitButton>
        {canSendEmail ? (
          <Button onClick={emailLink} disabled={isBusy}>
            Email me a link
          </Button>
        ) : null}
      </div>
    </form>
  );
}
