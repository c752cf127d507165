"use client";

import { KeyRound } from "lucide-react";
import { type FormEvent, useState } from "react";
import { submitProof } from "../../auth-client";
import { Button } from "../../console/_ui/form/button";
import { TextField } from "../../console/_ui/form/form";
import { FormFault } from "../../console/_ui/form/form-fault";
import { linkStyle } from "../../console/_ui/styles";
import { signInByPasskey } from "../../passkey-client";
import { WideSubmitButton } from "../fields";
import { openNextPage, PASSKEY_MESSAGES, SIGN_IN_MESSAGES } from "../messages";
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
    label: "Code",
    hint: "The current six-digit code of your authenticator app.",
    input: { inputMode: "numeric", autoComplete: "one-time-code", maxLength: 12 },
  },
  recovery: {
    label: "Recovery code",
    hint: "One of the codes that you saved during setup. Each can be used once.",
    input: { inputMode: "text", autoComplete: "off", maxLength: 40 },
  },
} as const;

type FormProps = { landing: string; hasApp: boolean; hasPasskey: boolean };

/** Accepts a code of the authenticator app, a recovery code or a passkey, depending on what the user has set up. */
export function TwoFactorForm({ landing, hasApp, hasPasskey }: FormProps) {
  const [kind, setKind] = useState<Kind | null>(hasApp ? "app" : null);
  const { busyWith, isBusy, fault, run, reset } = useStep();

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get("code"));
    void run("code", async () => openNextPage(await submitProof("two-factor", { code }, landing), MESSAGES));
  };
  const openWithPasskey = async () => openNextPage(await signInByPasskey(landing), PASSKEY_MESSAGES);
  const change = (to: Kind) => {
    setKind(to);
    reset();
  };

  const field = kind && FIELDS[kind];
  return (
    <div className="flex flex-col gap-4">
      <FormFault fault={fault} />
      {hasPasskey ? (
        <Button
          tone={field ? "plain" : "primary"}
          className="w-full"
          disabled={isBusy}
          onClick={() => run("passkey", openWithPasskey)}
        >
          <KeyRound className="size-4" aria-hidden="true" />
          {busyWith === "passkey" ? "Waiting for your passkey…" : "Use a passkey"}
        </Button>
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
        {kind === "recovery" && hasApp ? (
          <button type="button" onClick={() => change("app")} className={linkStyle}>
            Use the authenticator app
          </button>
        ) : kind === "recovery" ? null : (
          <button type="button" onClick={() => change("recovery")} className={linkStyle}>
            Use a recovery code
          </button>
        )}
      </p>
    </div>
  );
}
