import type { UseFormReturn } from "react-hook-form";
import { SelectField, TextField } from "../../_ui/form/form";
import { KINDS, type ScopeFields } from "./scope";

type Form = UseFormReturn<ScopeFields & { reason: string }>;

/** The fields that choose a queue, and the reason. */
export function QueueFields({ form, reasonHint }: { form: Form; reasonHint: string }) {
  const { register, watch, formState } = form;
  const kind = watch("kind");
  return (
    <>
      <SelectField label="Queue" options={KINDS} {...register("kind")} />
      {kind === "installation" ? null : (
        <TextField
          label={kind === "team" ? "Team" : "Team (optional)"}
          hint={
            kind === "team" ? "Its name or id." : "Its name or id. Needed if several teams have the domain."
          }
          autoComplete="off"
          error={formState.errors.team}
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
          error={formState.errors.domain}
          {...register("domain", { validate: (text) => text.trim() !== "" || "Enter a domain." })}
        />
      ) : null}
      <TextField
        label="Reason"
        hint={reasonHint}
        maxLength={500}
        autoComplete="off"
        error={formState.errors.reason}
        {...register("reason", { validate: (text) => text.trim() !== "" || "Enter a reason." })}
      />
    </>
  );
}
