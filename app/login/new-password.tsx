import { TextField } from "../console/_ui/form";

/** A password that is chosen now. */
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
      hint="12 characters or more. A few words that you remember do well."
      error={error}
    />
  );
}
