"use client";

import { KeyRound } from "lucide-react";
import { useState } from "react";
import type { OtherSignInMethods as Methods } from "#server/trpc/account/sign-in-pages";
import { signInWithProvider } from "../auth-client";
import { buttonStyle } from "../console/_ui/styles";
import { signInByPasskey } from "../passkey-client";
import { PASSKEY_MESSAGES } from "./messages";

/** Sign-in with a passkey or with an external account, if available. */
export function OtherSignInMethods({ methods, landing }: { methods: Methods; landing: string }) {
  const [busyWith, setBusyWith] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  if (!methods.hasPasskeys && methods.providers.length === 0) return null;

  const start = async (method: string, signIn: () => Promise<string | null>) => {
    setBusyWith(method);
    setFault(null);
    const message = await signIn();
    if (message === null) return;
    setFault(message);
    setBusyWith(null);
  };
  const signInWithPasskey = async () => {
    const result = await signInByPasskey(landing);
    if ("fault" in result) return result.message ?? PASSKEY_MESSAGES[result.fault];
    window.location.assign(result.to);
    return null;
  };

  return (
    <div className="mt-6 flex flex-col gap-2.5">
      <div className="mb-2 flex items-center gap-3 text-soft text-xs" aria-hidden="true">
        <span className="h-px grow bg-line" />
        or
        <span className="h-px grow bg-line" />
      </div>
      <div role="alert" className="empty:hidden">
        {fault ? <p className="rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad leading-6">{fault}</p> : null}
      </div>
      {methods.hasPasskeys ? (
        <button
          type="button"
          disabled={busyWith !== null}
          onClick={() => start("passkey", signInWithPasskey)}
          className={`${buttonStyle.plain} h-10`}
        >
          <KeyRound className="size-4" aria-hidden="true" />
          {busyWith === "passkey" ? "Waiting for your passkey…" : "Sign in with a passkey"}
        </button>
      ) : null}
      {methods.providers.map(({ id, name }) => (
        <button
          key={id}
          type="button"
          disabled={busyWith !== null}
          onClick={() => start(id, () => signInWithProvider(id, landing))}
          className={`${buttonStyle.plain} h-10`}
        >
          Continue with {name}
        </button>
      ))}
    </div>
  );
}
