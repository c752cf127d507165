"use client";

import Link from "next/link";
import { type FormEvent, useEffect, useRef, useState } from "react";
import type { OtherSignInMethods as Methods } from "#server/trpc/account/sign-in-pages";
import { submitProof } from "../auth-client";
import { Button } from "../console/_ui/form/button";
import { SubmitButton, TextField } from "../console/_ui/form/form";
import { FormFault } from "../console/_ui/form/form-fault";
import { linkStyle } from "../console/_ui/styles";
import { offerPasskeyAutofill, submitPasskey } from "../passkey-client";
import { EmailField, takeFields } from "./fields";
import { openNextPage, PASSKEY_MESSAGES, SIGN_IN_MESSAGES } from "./messages";
import { OtherSignInMethods } from "./other-methods";
import { useLinkRequest } from "./use-link-request";
import { useStep } from "./use-step";

type Props = { landing: string; canSendEmail: boolean; methods: Methods };

/** All sign-in methods of the page. At most one request is in progress. */
export function SignIn({ landing, canSendEmail, methods }: Props) {
  const form = useLinkRequest("sign_in_link", landing);
  const other = useStep();
  const isBusy = other.isBusy || (form.isBusy && form.confirmation === null);
  usePasskeyAutofill(methods.hasPasskeys && !isBusy && form.confirmation === null, landing, other.run);
  return (
    <>
      <LoginForm landing={landing} canSendEmail={canSendEmail} request={form} isBusy={isBusy} />
      <OtherSignInMethods methods={methods} landing={landing} step={{ ...other, isBusy }} />
    </>
  );
}

/**
 * Offers passkeys in the autofill list of the email field, and signs in with the chosen one. Stops while
 * another method is used: a browser handles one passkey request at a time. A rejected passkey is not offered
 * again, because it would be rejected again.
 */
function usePasskeyAutofill(isOn: boolean, landing: string, run: ReturnType<typeof useStep>["run"]) {
  const runLatest = useRef(run);
  runLatest.current = run;
  const [wasChosen, setWasChosen] = useState(false);
  useEffect(() => {
    if (!isOn || wasChosen) return;
    const offer = new AbortController();
    void offerPasskeyAutofill(offer.signal).then((response) => {
      if (response === null || offer.signal.aborted) return;
      setWasChosen(true);
      const signIn = async () => openNextPage(await submitPasskey(response, landing), PASSKEY_MESSAGES);
      void runLatest.current("autofill", signIn);
    });
    return () => offer.abort();
  }, [isOn, wasChosen, landing]);
}

type FormProps = {
  landing: string;
  canSendEmail: boolean;
  request: ReturnType<typeof useLinkRequest>;
  /** Whether this or another sign-in method has a request in progress. */
  isBusy: boolean;
};

/**
 * Signs in with a password and opens `landing`, or requests an emailed link if the installation can send
 * email.
 */
function LoginForm({ landing, canSendEmail, request: linkRequest, isBusy }: FormProps) {
  const { busyWith, fault, run, request, confirmation } = linkRequest;
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
      <EmailField offersPasskeys />
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
