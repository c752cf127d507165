"use client";

import type { OtherSignInMethods as Methods } from "#server/trpc/account/sign-in-pages";
import { signInWithProvider } from "../auth-client";
import { Button } from "../console/_ui/form/button";
import { FormFault } from "../console/_ui/form/form-fault";
import { PasskeyButton } from "./passkey-button";
import type { useStep } from "./use-step";

type Props = { methods: Methods; landing: string; step: ReturnType<typeof useStep> };

/** Sign-in with a passkey or with an external account, if available. */
export function OtherSignInMethods({ methods, landing, step }: Props) {
  const { isBusy, fault, run } = step;
  if (!methods.hasPasskeys && methods.providers.length === 0) return null;
  return (
    <div className="mt-6 flex flex-col gap-2.5">
      <div className="mb-2 flex items-center gap-3 text-soft text-xs" aria-hidden="true">
        <span className="h-px grow bg-line" />
        or
        <span className="h-px grow bg-line" />
      </div>
      <FormFault fault={fault} />
      {methods.hasPasskeys ? (
        <PasskeyButton step={step} landing={landing}>
          Sign in with a passkey
        </PasskeyButton>
      ) : null}
      {methods.providers.map(({ id, name }) => (
        <Button key={id} disabled={isBusy} onClick={() => run(id, () => signInWithProvider(id, landing))}>
          Continue with {name}
        </Button>
      ))}
    </div>
  );
}
