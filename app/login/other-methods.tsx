"use client";

import { KeyRound } from "lucide-react";
import type { OtherSignInMethods as Methods } from "#server/trpc/account/sign-in-pages";
import { signInWithProvider } from "../auth-client";
import { Button } from "../console/_ui/form/button";
import { FormFault } from "../console/_ui/form/form-fault";
import { signInByPasskey } from "../passkey-client";
import { openNextPage, PASSKEY_MESSAGES } from "./messages";
import { useStep } from "./use-step";

/** Sign-in with a passkey or with an external account, if available. */
export function OtherSignInMethods({ methods, landing }: { methods: Methods; landing: string }) {
  const { busyWith, isBusy, fault, run } = useStep();
  if (!methods.hasPasskeys && methods.providers.length === 0) return null;
  const openWithPasskey = async () => openNextPage(await signInByPasskey(landing), PASSKEY_MESSAGES);
  return (
    <div className="mt-6 flex flex-col gap-2.5">
      <div className="mb-2 flex items-center gap-3 text-soft text-xs" aria-hidden="true">
        <span className="h-px grow bg-line" />
        or
        <span className="h-px grow bg-line" />
      </div>
      <FormFault fault={fault} />
      {methods.hasPasskeys ? (
        <Button disabled={isBusy} onClick={() => run("passkey", openWithPasskey)}>
          <KeyRound className="size-4" aria-hidden="true" />
          {busyWith === "passkey" ? "Waiting for your passkey…" : "Sign in with a passkey"}
        </Button>
      ) : null}
      {methods.providers.map(({ id, name }) => (
        <Button key={id} disabled={isBusy} onClick={() => run(id, () => signInWithProvider(id, landing))}>
          Continue with {name}
        </Button>
      ))}
    </div>
  );
}
