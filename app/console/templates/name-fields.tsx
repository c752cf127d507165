import type { FieldErrors, UseFormRegisterReturn } from "react-hook-form";
import { TextField } from "../_ui/form/form";

type Props = {
  name: UseFormRegisterReturn;
  alias: UseFormRegisterReturn;
  errors: FieldErrors<{ name: string; alias: string }>;
};

export const NAME_RULE = { validate: (text: string) => text.trim() !== "" || "Enter a name." };

/** The name and the alias of a template. */
export function NameFields({ name, alias, errors }: Props) {
  return (
    <>
      <TextField
        label="Name"
        placeholder="Welcome email"
        autoComplete="off"
        maxLength={200}
        error={errors.name}
        {...name}
      />
      <TextField
        label="Alias"
        hint="Optional. Programs can use the alias instead of the id."
        placeholder="welcome-email"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        isMono
        maxLength={64}
        error={errors.alias}
        {...alias}
      />
    </>
  );
}
