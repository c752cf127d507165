import { CheckboxField } from "../_ui/form/form";
import type { KeyForm } from "./create-key-form";
import { SCOPE_GROUPS, SCOPE_LABELS } from "./scopes";

/** A checkbox for every permission, grouped by resource. */
export function ScopeFields({ form }: { form: KeyForm }) {
  const { register, formState } = form;
  const rules = { validate: (scopes: string[]) => scopes.length > 0 || "Select at least one permission." };
  return (
    <fieldset className="flex min-w-0 flex-col gap-4 rounded-lg border border-line p-4">
      <legend className="px-1 font-medium">Permissions</legend>
      {formState.errors.scopes ? (
        <p role="alert" className="text-bad text-xs">
          {formState.errors.scopes.message}
        </p>
      ) : null}
      <div className="grid gap-x-6 gap-y-5 md:grid-cols-2">
        {SCOPE_GROUPS.map(({ group, scopes }) => (
          <fieldset key={group} className="flex min-w-0 flex-col gap-2.5">
            <legend className="mb-2 text-soft text-xs">{group}</legend>
            {scopes.map((scope) => (
              <CheckboxField
                key={scope}
                value={scope}
                label={<span className="font-normal">{SCOPE_LABELS[scope].label}</span>}
                {...register("scopes", rules)}
              />
            ))}
          </fieldset>
        ))}
      </div>
    </fieldset>
  );
}
