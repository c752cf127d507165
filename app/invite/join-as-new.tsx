"use client";

import type { FormEvent } from "react";
import { prove } from "../auth-client";
import { SubmitButton, TextField } from "../console/_ui/form";
import { FormFault } from "../console/_ui/form-fault";
import { useTRPC } from "../console/_ui/trpc";
import { useAct } from "../console/_ui/use-act";
import { NewPasswordField } from "../login/new-password";
import { forgetToken } from "./kept-token";

/** For somebody who has no user here yet: they choose a name and a password, and are signed in by them. */
export function JoinAsNew({ token, email }: { token: string; email: string }) {
  const trpc = useTRPC();
  const joining = useAct(trpc.invitations.accept.mutationOptions(), {
    onDone: async ({ teamId }, { password }) => {
      forgetToken();
      const landing = `/console?team=${encodeURIComponent(teamId)}`;
      const result = await prove("credentials", { email, password }, landing);
      window.location.assign("to" in result ? result.to : "/login");
    },
  });
  const { fault } = joining;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    joining.act({ token, name: String(fields.get("name")), password: String(fields.get("password")) });
  };
  return (
    // Without scripts nothing may be sent: a GET would put the password into the address.
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
        <SubmitButton isBusy={joining.isBusy || joining.result !== undefined}>Join the team</SubmitButton>
      </div>
    </form>
  );
}
