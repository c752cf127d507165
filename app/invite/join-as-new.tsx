"use client";

import type { FormEvent } from "react";
import { submitProof } from "../auth-client";
import { SubmitButton, TextField } from "../console/_ui/form/form";
import { FormFault } from "../console/_ui/form/form-fault";
import { useTRPC } from "../console/_ui/trpc";
import { useAction } from "../console/_ui/use-action";
import { NewPasswordField } from "../login/new-password";
import { clearToken } from "./invitation-token";

/** For an invited person without an account: creates the user with a name and a password, then signs in. */
export function JoinAsNew({ token, email }: { token: string; email: string }) {
  const trpc = useTRPC();
  const joining = useAction(trpc.invitations.accept.mutationOptions(), {
    onDone: async ({ teamId }, { password }) => {
      clearToken();
      const landing = `/console?team=${encodeURIComponent(teamId)}`;
      const result = await submitProof("credentials", { email, password }, landing);
      window.location.assign("to" in result ? result.to : "/login");
    },
  });
  const { fault } = joining;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    joining.run({ token, name: String(fields.get("name")), password: String(fields.get("password")) });
  };
  return (
    // POST: without JavaScript, a GET submit would put the password into the URL.
    <form method="post" action="/invite" onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label="Email address"
        name="email"
        type="email"
        autoComplete="username"
        value={email}
        readOnly
      />
      <TextField label="Your name" name="name" autoComplete="name" maxLength={100} />
      <NewPasswordField />
      {fault ? <FormFault fault={fault} /> : null}
      <div className="mt-2 *:w-full">
        <SubmitButton isBusy={joining.isBusy || joining.result !== undefined}>Join team</SubmitButton>
      </div>
    </form>
  );
}
