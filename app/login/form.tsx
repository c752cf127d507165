"use client";

import { type FormEvent, useId, useState } from "react";
import { type SignInFault, signIn } from "../auth-client";
import { buttonStyle, fieldStyle } from "../console/_ui/styles";

const SAID: Record<SignInFault, string> = {
  refused: "That address and password do not belong together.",
  too_many_tries: "Too many tries. Wait a minute and try again.",
  unavailable: "Signing in does not work just now. Try again in a moment.",
};

/** Signs in and goes to `landing`, by a load of its own so that nothing of an earlier person stays in memory. */
export function LoginForm({ landing }: { landing: string }) {
  const [fault, setFault] = useState<SignInFault | null>(null);
  const [isBusy, setBusy] = useState(false);
  const ids = { email: useId(), password: useId(), fault: useId() };

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setBusy(true);
    setFault(null);
    const found = await signIn(String(fields.get("email")), String(fields.get("password")));
    if (found === null) return window.location.assign(landing);
    setFault(found);
    setBusy(false);
  };

  const described = fault ? { "aria-describedby": ids.fault, "aria-invalid": fault === "refused" } : {};
  return (
    // Without scripts nothing may be sent: a GET would put the password into the address.
    <form method="post" action="/login" onSubmit={submit} className="flex flex-col gap-4">
      <label htmlFor={ids.email} className="flex flex-col gap-1.5 font-medium">
        Email address
        <input
          id={ids.email}
          name="email"
          type="email"
          autoComplete="username"
          required
          maxLength={320}
          className={fieldStyle}
          {...described}
        />
      </label>
      <label htmlFor={ids.password} className="flex flex-col gap-1.5 font-medium">
        Password
        <input
          id={ids.password}
          name="password"
          type="password"
          autoComplete="current-password"
          required
          maxLength={256}
          className={fieldStyle}
          {...described}
        />
      </label>
      <button type="submit" disabled={isBusy} className={`${buttonStyle.primary} mt-2 h-10 w-full`}>
        {isBusy ? "Signing in…" : "Sign in"}
      </button>
      <p id={ids.fault} role="alert" className="-mb-3 min-h-5 text-center text-bad">
        {fault ? SAID[fault] : ""}
      </p>
    </form>
  );
}
