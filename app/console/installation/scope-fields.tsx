import { SelectField, TextField } from "../_ui/form/form";
import { type Fields, filled } from "../_ui/form/use-fields";

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

type Props<Values extends ScopeValues> = { label: string; form: Fields<Values> };

/** The fields of a form that choose the installation, a team or a domain. */
export function ScopeFields<Values extends ScopeValues>({ label, form }: Props<Values>) {
  const { field, watch } = form as unknown as Fields<ScopeValues>;
  const kind = watch("kind");
  return (
    <>
      <SelectField label={label} options={KINDS} {...field("kind")} />
      {kind === "installation" ? null : (
        <TextField
          label={kind === "team" ? "Team" : "Team (optional)"}
          hint={
            kind === "team" ? "Its name or id." : "Its name or id. Needed if several teams have the domain."
          }
          autoComplete="off"
          {...field("team", {
            validate: (text) => kind !== "team" || text.trim() !== "" || "Enter a team.",
          })}
        />
      )}
      {kind === "domain" ? (
        <TextField
          label="Domain"
          placeholder="example.com"
          autoComplete="off"
          {...field("domain", filled("Enter a domain."))}
        />
      ) : null}
    </>
  );
}

/** Why something is paused or purged. */
export const ReasonField = ({
  form,
  hint,
}: {
  form: Pick<Fields<{ reason: string }>, "field">;
  hint: string;
}) => (
  <TextField
    label="Reason"
    hint={hint}
    maxLength={500}
    autoComplete="off"
    {...form.field("reason", filled("Enter a reason."))}
  />
);
