import type { ComponentProps } from "react";
import { TextField } from "../_ui/form/form";
import { filled } from "../_ui/form/use-fields";

type Field = Omit<ComponentProps<typeof TextField>, "label">;

export const NAME_RULE = filled("Enter a name.");

/** The name and the alias of a template. */
export function NameFields({ name, alias }: Record<"name" | "alias", Field>) {
  return (
    <>
      <TextField label="Name" placeholder="Welcome email" autoComplete="off" maxLength={200} {...name} />
      <TextField
        label="Alias"
        hint="Optional. Programs can use the alias instead of the id."
        placeholder="welcome-email"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        isMono
        maxLength={64}
        {...alias}
      />
    </>
  );
}
