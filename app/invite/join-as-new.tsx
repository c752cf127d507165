"use client";

import type { FormEvent } from "react";
import { signInWithPassword } from "../auth-client";
import { TextField } from "../console/_ui/form/form";
import { FormFault } from "../console/_ui/form/form-fault";
import { useTRPC } from "../console/_ui/trpc";
import { useAction } from "../console/_ui/use-action";
import { EmailField, NewPasswordField, WideSubmitButton } from "../login/fields";
import { clearToken } from "./invitation-token";

/** For an invited person without an account: creates the user with a name and a password, then signs in. */
export function JoinAsNew({ token, email }: { token: string; email: string }) {
  const trpc = useTRPC();
  const joining = useAction(trpc.invitations.accept.mutationOptions(), {
    onDone: async ({ teamId }, { password }) => {
      clearToken();
      await signInWithPassword(email, password, `/console?team=${encodeURIComponent(teamId)}`);
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    joining.run({ token, name: String(fields.get("name")), password: String(fields.get("password")) });
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
