"use client";

import { type FormEvent, useState } from "react";
import type { presentInvitationPreview } from "#server/shared/wire/people/invitation";
import { signInWithPassword, signOut } from "../auth-client";
import { Button } from "../console/_ui/form/button";
import { TextField } from "../console/_ui/form/form";
import { FormFault } from "../console/_ui/form/form-fault";
import { buttonStyle } from "../console/_ui/styles";
import { useTRPC } from "../console/_ui/trpc";
import { useAction } from "../console/_ui/use-action";
import { EmailField, NewPasswordField, takeFields, WideSubmitButton } from "../login/fields";
import { clearToken } from "./invitation-token";

export type InvitationPreview = ReturnType<typeof presentInvitationPreview> & { signedInAs: string | null };
type Open = Extract<InvitationPreview, { state: "open" }>;

/**
 * How the reader joins: it depends on whether they are signed in, and whether the invited address has an
 * account.
 */
export function JoinOptions({ invitation, token }: { invitation: Open; token: string }) {
  const { email, signedInAs, has_user: hasUser } = invitation;
  if (signedInAs === email) return <JoinAsUser token={token} email={email} />;
  if (signedInAs !== null) return <WrongUser email={email} signedInAs={signedInAs} />;
  if (hasUser) return <SignInFirst email={email} />;
  return <JoinAsNew token={token} email={email} />;
}

/** For an invited person without an account: creates the user with a name and a password, then signs in. */
function JoinAsNew({ token, email }: { token: string; email: string }) {
  const trpc = useTRPC();
  const joining = useAction(trpc.invitations.accept.mutationOptions(), {
    onDone: async ({ teamId }, { password }) => {
      clearToken();
      await signInWithPassword(email, password, `/console?team=${encodeURIComponent(teamId)}`);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    joining.run({ token, ...takeFields(event, "name", "password") });
  };
  return (
    // POST: without JavaScript, a GET submit would put the password into the URL.
    <form method="post" action="/invite" onSubmit={submit} className="flex flex-col gap-4">
      <EmailField value={email} />
      <TextField label="Your name" name="name" autoComplete="name" maxLength={100} />
      <NewPasswordField />
      <FormFault fault={joining.fault} />
      <WideSubmitButton isBusy={joining.isBusy || joining.result !== undefined}>Join team</WideSubmitButton>
    </form>
  );
}

/** For the invited user, who is signed in. */
function JoinAsUser({ token, email }: { token: string; email: string }) {
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
        You are signed in as{" "}
        <strong className="inline-block max-w-full break-words font-semibold">{email}</strong>.
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
function SignInFirst({ email }: { email: string }) {
  return (
    <div className="flex flex-col gap-4">
      <p className="leading-6">
        <strong className="inline-block max-w-full break-words font-semibold">{email}</strong> already has an
        account here. Sign in to it, then accept the invitation.
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
function WrongUser({ email, signedInAs }: { email: string; signedInAs: string }) {
  const [isBusy, setBusy] = useState(false);
  const leave = async () => {
    setBusy(true);
    await signOut().catch(() => {});
    window.location.assign("/invite");
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="leading-6">
        This invitation is for{" "}
        <strong className="inline-block max-w-full break-words font-semibold">{email}</strong>, but you are
        signed in as{" "}
        <strong className="inline-block max-w-full break-words font-semibold">{signedInAs}</strong>.
      </p>
      <Button tone="primary" disabled={isBusy} onClick={() => void leave()}>
        Sign out and continue
      </Button>
    </div>
  );
}
