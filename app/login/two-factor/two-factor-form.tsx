"use client";

import { KeyRound } from "lucide-react";
import { type FormEvent, useState } from "react";
import { type SignInFault, submitProof } from "../../auth-client";
import { SubmitButton, TextField } from "../../console/_ui/form/form";
import { buttonStyle, linkStyle } from "../../console/_ui/styles";
import { signInByPasskey } from "../../passkey-client";
import { PASSKEY_MESSAGES } from "../messages";

const MESSAGES: Record<SignInFault, string> = {
  rejected: "This code is incorrect or was already used.",
  too_many_attempts: "Too many incorrect codes. Wait a while, or use a recovery code.",
  expired: "The sign-in expired, or there were too many attempts. Start again.",
  unavailable: "Sign-in is temporarily unavailable. Try again in a moment.",
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
  const [fault, setFault] = useState<string | null>(null);
  const [busyWith, setBusyWith] = useState<"code" | "passkey" | null>(null);

  const fail = (message: string) => {
    setFault(message);
    setBusyWith(null);
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get("code"));
    setBusyWith("code");
    setFault(null);
    const result = await submitProof("two-factor", { code }, landing);
    if ("to" in result) return window.location.assign(result.to);
    fail(result.message ?? MESSAGES[result.fault]);
  };
  const submitPasskey = async () => {
    setBusyWith("passkey");
    setFault(null);
    const result = await signInByPasskey(landing);
    if ("to" in result) return window.location.assign(result.to);
    fail(result.message ?? PASSKEY_MESSAGES[result.fault]);
  };
  const change = (to: Kind) => {
    setKind(to);
    setFault(null);
  };

  const field = kind && FIELDS[kind];
  return (
    <div className="flex flex-col gap-4">
      <div role="alert" className="empty:hidden">
        {fault ? <p className="rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad leading-6">{fault}</p> : null}
      </div>
      {hasPasskey ? (
        <button
          type="button"
          disabled={busyWith !== null}
          onClick={submitPasskey}
          className={`${field ? buttonStyle.plain : buttonStyle.primary} h-10 w-full`}
        >
          <KeyRound className="size-4" aria-hidden="true" />
          {busyWith === "passkey" ? "Waiting for your passkey…" : "Use a passkey"}
        </button>
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
          <div className="flex flex-col *:w-full">
            <SubmitButton isBusy={busyWith === "code"} disabled={busyWith !== null}>
              Sign in
            </SubmitButton>
          </div>
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
