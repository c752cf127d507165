import type { ComponentProps, FormEvent } from "react";
import { SubmitButton, TextField } from "../console/_ui/form/form";

/** The fields of a submitted form. The browser does not submit it itself. */
export function takeFields<Name extends string>(
  event: FormEvent<HTMLFormElement>,
  ...names: Name[]
): Record<Name, string> {
  event.preventDefault();
  const fields = new FormData(event.currentTarget);
  return Object.fromEntries(names.map((name) => [name, String(fields.get(name))])) as Record<Name, string>;
}

type EmailFieldProps = { value?: string; error?: string | null; offersPasskeys?: boolean };

/**
 * The email address to sign in with. With a `value` it cannot be changed; password managers still read it.
 * `offersPasskeys`: the browser may list passkeys here (WebAuthn level 3, conditional mediation).
 */
export const EmailField = ({ value, error, offersPasskeys = false }: EmailFieldProps) => (
  <TextField
    label="Email address"
    name="email"
    type="email"
    autoComplete={offersPasskeys ? "username webauthn" : "username"}
    error={error}
    {...(value === undefined ? { required: true, maxLength: 320 } : { value, readOnly: true })}
  />
);

/** The field for a new password. */
export const NewPasswordField = ({ error }: { error?: string | null }) => (
  <TextField
    label="Password"
    name="password"
    type="password"
    autoComplete="new-password"
    required
    minLength={12}
    maxLength={256}
    hint="At least 12 characters. Several words make a strong password."
    error={error}
  />
);

/** The submit button below the fields, as wide as they are. */
export const WideSubmitButton = (button: ComponentProps<typeof SubmitButton>) => (
  <div className="mt-2 *:w-full">
    <SubmitButton {...button} />
  </div>
);
