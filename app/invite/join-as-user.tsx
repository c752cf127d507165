"use client";

import { useState } from "react";
import { signOut } from "../auth-client";
import { FormFault } from "../console/_ui/form-fault";
import { buttonStyle } from "../console/_ui/styles";
import { useTRPC } from "../console/_ui/trpc";
import { useAct } from "../console/_ui/use-act";
import { forgetToken } from "./kept-token";

const goOnStyle = `${buttonStyle.primary} h-10 w-full`;

/** For whom the invitation is, and who is signed in. */
export function JoinAsUser({ token, email }: { token: string; email: string }) {
  const trpc = useTRPC();
  const joining = useAct(trpc.invitations.join.mutationOptions(), {
    onDone: ({ teamId }) => {
      forgetToken();
      window.location.assign(`/console?team=${encodeURIComponent(teamId)}`);
    },
  });
  const { fault } = joining;
  return (
    <div className="flex flex-col gap-4">
      <p className="leading-6">
        You are signed in as <strong className="break-words font-semibold">{email}</strong>.
      </p>
      {fault ? <FormFault fault={fault} /> : null}
      <button
        type="button"
        disabled={joining.isBusy || joining.result !== undefined}
        onClick={() => joining.act({ token })}
        className={goOnStyle}
      >
        Join the team
      </button>
    </div>
  );
}

/** For whoever has a user here, and is not signed in. They come back to this page. */
export function SignInFirst({ email }: { email: string }) {
  return (
    <div className="flex flex-col gap-4">
      <p className="leading-6">
        <strong className="break-words font-semibold">{email}</strong> has an account here already. Sign in by
        it, and this page comes back.
      </p>
      <a href={`/login?callbackUrl=${encodeURIComponent("/invite")}`} className={goOnStyle}>
        Sign in to join
      </a>
    </div>
  );
}

/** For whoever is signed in as somebody else. */
export function WrongPerson({ email, signedInAs }: { email: string; signedInAs: string }) {
  const [isBusy, setBusy] = useState(false);
  const leave = async () => {
    setBusy(true);
    await signOut().catch(() => {});
    window.location.assign("/invite");
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="leading-6">
        This invitation is for <strong className="break-words font-semibold">{email}</strong>, and you are
        signed in as <strong className="break-words font-semibold">{signedInAs}</strong>.
      </p>
      <button type="button" disabled={isBusy} onClick={() => void leave()} className={goOnStyle}>
        Sign out and go on
      </button>
    </div>
  );
}
