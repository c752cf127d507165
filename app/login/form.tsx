"use client";

import Link from "next/link";
import { type FormEvent, useRef } from "react";
import { submitProof } from "../auth-client";
import { Button } from "../console/_ui/form/button";
import { SubmitButton, TextField } from "../console/_ui/form/form";
import { FormFault } from "../console/_ui/form/form-fault";
import { linkStyle } from "../console/_ui/styles";
import { EmailField, takeFields } from "./fields";
import { openNextPage, SIGN_IN_MESSAGES } from "./messages";
import { useLinkRequest } from "./use-link-request";

/** Signs in with a password and opens `landing`, or requests an emailed link if the installation can send email. */
export function LoginForm({ landing, canSendEmail }: { landing: string; canSendEmail: boolean }) {
  const { busyWith, isBusy, fault, run, request, confirmation } = useLinkRequest("sign_in_link", landing);
  const form = useRef<HTMLFormElement>(null);

  const submit = (event: FormEvent<HTMLFormElement>) => {
    const fields = takeFields(event, "email", "password");
    void run("password", async () =>
      openNextPage(await submitProof("credentials", fields, landing), SIGN_IN_MESSAGES),
    );
  };
  const emailLink = () => {
    const field = form.current?.elements.namedItem("email");
    if (field instanceof HTMLInputElement && field.reportValidity()) void request(field.value);
  };

  if (confirmation) return confirmation;
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
