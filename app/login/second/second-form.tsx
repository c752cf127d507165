"use client";

import { KeyRound } from "lucide-react";
import { type FormEvent, useState } from "react";
import { prove, type SignInFault } from "../../auth-client";
import { SubmitButton, TextField } from "../../console/_ui/form";
import { buttonStyle, linkStyle } from "../../console/_ui/styles";
import { signInByPasskey } from "../../passkey-client";
import { PASSKEY_FAULTS } from "../faults";

const SAID: Record<SignInFault, string> = {
  refused: "This code is not right, or was used already.",
  too_many_tries: "Too many wrong codes. Wait a while, or use a recovery code.",
  step_over: "That took too long, or too many tries. Sign in again from the start.",
  unavailable: "Signing in does not work just now. Try again in a moment.",
};

type Kind = "app" | "recovery";
const FIELDS = {
  app: {
    label: "Code",
    hint: "The six digits that your authenticator app shows now.",
    input: { inputMode: "numeric", autoComplete: "one-time-code", maxLength: 12 },
  },
  recovery: {
    label: "Recovery code",
    hint: "One of those you kept when you set this up. It opens once.",
    input: { inputMode: "text", autoComplete: "off", maxLength: 40 },
  },
} as const;

type FormProps = { landing: string; hasApp: boolean; hasPasskey: boolean };

/** Takes a code of the app, a recovery code or a passkey, as far as the person has them. */
export function SecondStepForm({ landing, hasApp, hasPasskey }: FormProps) {
  const [kind, setKind] = useState<Kind | null>(hasApp ? "app" : null);
  const [fault, setFault] = useState<string | null>(null);
  const [busyWith, setBusyWith] = useState<"code" | "passkey" | null>(null);

  const tell = (said: string) => {
    setFault(said);
    setBusyWith(null);
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const code = String(new FormData(event.currentTarget).get("code"));
    setBusyWith("code");
    setFault(null);
    const result = await prove("second-step", { code }, landing);
    if ("to" in result) return window.location.assign(result.to);
    tell(result.said ?? SAID[result.fault]);
  };
  const takePasskey = async () => {
    setBusyWith("passkey");
    setFault(null);
    const result = await signInByPasskey(landing);
    if ("to" in result) return window.location.assign(result.to);
    tell(result.said ?? PASSKEY_FAULTS[result.fault]);
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
          onClick={takePasskey}
          className={`${field ? buttonStyle.plain : buttonStyle.primary} h-10 w-full`}
        >
          <KeyRound className="size-4" aria-hidden="true" />
          {busyWith === "passkey" ? "Waiting for your passkey…" : "Use a passkey"}
        </button>
      ) : null}
      {field ? (
        // Without scripts nothing may be sent: a GET would put the code into the address.
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
