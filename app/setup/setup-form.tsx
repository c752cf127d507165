"use client";

import { type FormEvent, useState } from "react";
import { prove } from "../auth-client";
import { SubmitButton, TextField } from "../console/_ui/form";
import { FormFault } from "../console/_ui/form-fault";
import { setUpFirstUser } from "../login/calls";
import { NewPasswordField } from "../login/new-password";
import { useFragment } from "../login/use-fragment";

/** Takes the code, which stands in the address where the printed link was followed, and who is to be the first user. */
export function SetupForm() {
  const printed = useFragment();
  const [typed, setTyped] = useState<string | null>(null);
  const [fault, setFault] = useState<{ of: "code" | "rest"; text: string } | null>(null);
  const [isBusy, setBusy] = useState(false);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [code, email, password] = ["code", "email", "password"].map((name) => String(fields.get(name)));
    if (!code || !email || !password) return;
    setBusy(true);
    setFault(null);
    const told = await setUpFirstUser(code, email, password);
    if (told.ok) {
      const result = await prove("credentials", { email: told.email, password }, "/console");
      return window.location.assign("to" in result ? result.to : "/login");
    }
    setBusy(false);
    setFault(
      told.isOver
        ? { of: "code", text: "That code opens nothing. Take the one that the last start printed." }
        : { of: "rest", text: told.fault },
    );
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label="Code"
        name="code"
        value={typed ?? printed ?? ""}
        onChange={(event) => setTyped(event.target.value)}
        autoComplete="off"
        spellCheck={false}
        required
        maxLength={100}
        isMono
        hint="Of the link that the start printed, or the log has: what stands behind the #."
        error={fault?.of === "code" ? fault.text : null}
      />
      <TextField
        label="Email address"
        name="email"
        type="email"
        autoComplete="username"
        required
        maxLength={320}
      />
      <NewPasswordField />
      <FormFault fault={fault?.of === "rest" ? { message: fault.text, code: null, requestId: null } : null} />
      <div className="mt-2 *:w-full">
        <SubmitButton isBusy={isBusy}>Make the first user</SubmitButton>
      </div>
    </form>
  );
}
