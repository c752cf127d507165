import type { UseFormReturn } from "react-hook-form";
import { SelectField, TextField } from "../_ui/form/form";

const KINDS = [
  { value: "team", label: "A team" },
  { value: "domain", label: "A sender domain" },
  { value: "installation", label: "The whole installation" },
] as const;

/** The values of `ScopeFields`. */
export type ScopeValues = { kind: (typeof KINDS)[number]["value"]; team: string; domain: string };

/** The input of the procedures. A domain without a team is that of the only team that has it. */
export const scopeOf = ({ kind, team, domain }: ScopeValues) => ({
  team: kind === "installation" || team.trim() === "" ? null : team.trim(),
  domain: kind === "domain" ? domain.trim() : null,
});

type Props<Values extends ScopeValues> = { label: string; form: UseFormReturn<Values> };

/** The fields of a form that choose the installation, a team or a domain. */
export function ScopeFields<Values extends ScopeValues>({ label, form }: Props<Values>) {
  const { register, watch, formState } = form as unknown as UseFormReturn<ScopeValues>;
  const { errors } = formState;
  const kind = watch("kind");
  return (
    <>
      <SelectField label={label} options={KINDS} {...register("kind")} />
      {kind === "installation" ? null : (
        <TextField
          label={kind === "team" ? "Team" : "Team (optional)"}
          hint={
            kind === "team" ? "Its name or id." : "Its name or id. Needed if several teams have the domain."
          }
          autoComplete="off"
          error={errors.team}
          {...register("team", {
            validate: (text) => kind !== "team" || text.trim() !== "" || "Enter a team.",
          })}
        />
      )}
      {kind === "domain" ? (
        <TextField
          label="Domain"
          placeholder="example.com"
          autoComplete="off"
          error={errors.domain}
          {...register("domain", { validate: (text) => text.trim() !== "" || "Enter a domain." })}
        />
      ) : null}
    </>
  );
}
