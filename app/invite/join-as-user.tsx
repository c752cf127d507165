"use client";

import { useState } from "react";
import { signOut } from "../auth-client";
import { Button } from "../console/_ui/form/button";
import { FormFault } from "../console/_ui/form/form-fault";
import { buttonStyle } from "../console/_ui/styles";
import { useTRPC } from "../console/_ui/trpc";
import { useAction } from "../console/_ui/use-action";
import { clearToken } from "./invitation-token";

/** For the invited user, who is signed in. */
export function JoinAsUser({ token, email }: { token: string; email: string }) {
  const trpc = useTRPC();
  const joining = useAction(trpc.invitations.join.mutationOptions(), {
    onDone: ({ teamId }) => {
      clearToken();
      window.location.assign(`/console?team=${encodeURIComponent(teamId)}`);
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <p className="leading-6">
        You are signed in as <strong className="break-words font-semibold">{email}</strong>.
      </p>
      <FormFault fault={joining.fault} />
      <Button
        tone="primary"
        disabled={joining.isBusy || joining.result !== undefined}
        onClick={() => joining.run({ token })}
      >
        Join team
      </Button>
    </div>
  );
}

/** For an invited user who is not signed in. Sign-in returns to this page. */
export function SignInFirst({ email }: { email: string }) {
  return (
    <div className="flex flex-col gap-4">
      <p className="leading-6">
        <strong className="break-words font-semibold">{email}</strong> already has an account here. Sign in to
        it, then accept the invitation.
      </p>
      <a
        href={`/login?callbackUrl=${encodeURIComponent("/invite")}`}
        className={`${buttonStyle.primary} h-10`}
      >
        Sign in to join
      </a>
    </div>
  );
}

/** For a user who is signed in with another account. */
export function WrongUser({ email, signedInAs }: { email: string; signedInAs: string }) {
  const [isBusy, setBusy] = useState(false);
  const leave = async () => {
    setBusy(true);
    await signOut().catch(() => {});
    window.location.assign("/invite");
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="leading-6">
        This invitation is for <strong className="break-words font-semibold">{email}</strong>, but you are
        signed in as <strong className="break-words font-semibold">{signedInAs}</strong>.
      </p>
      <Button tone="primary" disabled={isBusy} onClick={() => void leave()}>
        Sign out and continue
      </Button>
    </div>
  );
}
