"use client";

import { type FormEvent, useState } from "react";
import { submitProof } from "../auth-client";
import { SubmitButton, TextField } from "../console/_ui/form/form";
import { FormFault } from "../console/_ui/form/form-fault";
import { setUpFirstUser } from "../login/auth-requests";
import { NewPasswordField } from "../login/new-password";
import { useFragment } from "../login/use-fragment";

/** The form for the first user. The setup link fills in the code from its URL fragment. */
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
    const response = await setUpFirstUser(code, email, password);
    if (response.ok) {
      const result = await submitProof("credentials", { email: response.email, password }, "/console");
      return window.location.assign("to" in result ? result.to : "/login");
    }
    setBusy(false);
    setFault(
      response.isFinal
        ? { of: "code", text: "Invalid code. Use the code that was printed at the last startup." }
        : { of: "rest", text: response.fault },
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
        hint="The part after # in the setup link. The link is printed at startup and written to the log."
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
        <SubmitButton isBusy={isBusy}>Create first user</SubmitButton>
      </div>
    </form>
  );
}
