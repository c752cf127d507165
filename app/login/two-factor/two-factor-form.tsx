"use client";

import { type FormEvent, useState } from "react";
import { submitProof } from "../../auth-client";
import { TextField } from "../../console/_ui/form/form";
import { FormFault } from "../../console/_ui/form/form-fault";
import { linkStyle } from "../../console/_ui/styles";
import { takeFields, WideSubmitButton } from "../fields";
import { openNextPage, SIGN_IN_MESSAGES } from "../messages";
import { PasskeyButton } from "../passkey-button";
import { useStep } from "../use-step";

const MESSAGES = {
  ...SIGN_IN_MESSAGES,
  rejected: "This code is incorrect or was already used.",
  too_many_attempts: "Too many incorrect codes. Wait a while, or use a recovery code.",
  expired: "The sign-in expired, or there were too many attempts. Start again.",
};

type Kind = "app" | "recovery";
const FIELDS = {
  app: {
    choice: "Use the authenticator app",
    label: "Code",
    hint: "The current 6-digit code from your authenticator app.",
    input: { inputMode: "numeric", autoComplete: "one-time-code", maxLength: 12 },
  },
  recovery: {
    choice: "Use a recovery code",
    label: "Recovery code",
    hint: "One of the codes that you saved during setup. Each can be used once.",
    input: { inputMode: "text", autoComplete: "off", maxLength: 40 },
  },
} as const;

type FormProps = { landing: string; hasApp: boolean; hasPasskey: boolean };

/**
 * Accepts a code of the authenticator app, a recovery code or a passkey, depending on what the user has set
 * up.
 */
export function TwoFactorForm({ landing, hasApp, hasPasskey }: FormProps) {
  const [kind, setKind] = useState<Kind | null>(hasApp ? "app" : null);
  const step = useStep();
  const { busyWith, isBusy, fault, run, reset } = step;

  const submit = (event: FormEvent<HTMLFormElement>) => {
    const fields = takeFields(event, "code");
    void run("code", async () => openNextPage(await submitProof("two-factor", fields, landing), MESSAGES));
  };
  const change = (to: Kind) => {
    setKind(to);
    reset();
  };

  const field = kind && FIELDS[kind];
  const appIfAny = hasApp ? "app" : null;
  const other = kind === "recovery" ? appIfAny : "recovery";
  return (
    <div className="flex flex-col gap-4">
      <FormFault fault={fault} />
      {hasPasskey ? (
        <PasskeyButton step={step} landing={landing} tone={field ? "plain" : "primary"} className="w-full">
          Use a passkey
        </PasskeyButton>
      ) : null}
      {field ? (
        // POST: without JavaScript, a GET submit would put the code into the URL.
        <form key={kind} method="post" action="/login" onSubmit={submit} className="flex flex-col gap-4">
          <TextField
            label={field.label}
            hint={field.hint}
            name="code"
            required
            isMono
            autoFocus
            spellCheck={false}
            autoCapitalize="off"
            {...field.input}
          />
          <WideSubmitButton isBusy={busyWith === "code"} disabled={isBusy}>
            Sign in
          </WideSubmitButton>
        </form>
      ) : null}
      <p className="text-center">
        {other ? (
          <button type="button" onClick={() => change(other)} className={linkStyle}>
            {FIELDS[other].choice}
          </button>
        ) : null}
      </p>
    </div>
  );
}
