import { TextField } from "../console/_ui/form/form";

/** The field for a new password. */
export function NewPasswordField({ error }: { error?: string | null }) {
  return (
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
}
