"use client";

import { type FormEvent, useState } from "react";
import { signInWithPassword } from "../auth-client";
import { TextField } from "../console/_ui/form/form";
import { FormFault } from "../console/_ui/form/form-fault";
import { setUpFirstUser } from "../login/auth-requests";
import { EmailField, NewPasswordField, takeFields, WideSubmitButton } from "../login/fields";
import { useFragment } from "../login/use-fragment";
import { useStep } from "../login/use-step";

const INVALID_CODE = "Invalid code. Use the code that was printed at the last startup.";

/** The form for the first user. The setup link fills in the code from its URL fragment. */
export function SetupForm() {
  const printed = useFragment();
  const [typed, setTyped] = useState<string | null>(null);
  const { isBusy, fault, run } = useStep();

  const submit = (event: FormEvent<HTMLFormElement>) => {
    const { code, email, password } = takeFields(event, "code", "email", "password");
    void run("setup", async () => {
      const response = await setUpFirstUser(code, email, password);
      if (!response.ok) return response.isFinal ? INVALID_CODE : response.fault;
      await signInWithPassword(response.email, password);
      return null;
    });
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
        error={fault === INVALID_CODE ? fault : null}
      />
      <EmailField />
      <NewPasswordField />
      <FormFault fault={fault === INVALID_CODE ? null : fault} />
      <WideSubmitButton isBusy={isBusy}>Create first user</WideSubmitButton>
    </form>
  );
}
