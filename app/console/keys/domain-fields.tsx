import { useState } from "react";
import { CheckboxField, RadioCards, TextField } from "../_ui/form/form";
import type { KeyForm, KeyOptions } from "./create-key-form";

/** The number of domains from which the list has a search field. */
const searchFrom = 9;

const REACHES = [
  { value: "all", label: "All domains", hint: "Including domains added later." },
  { value: "some", label: "Selected domains", hint: "Email from any other domain is rejected." },
];

/** Selects the domains that a key can send from. */
export function DomainFields({ form, domains }: { form: KeyForm; domains: KeyOptions["domains"] }) {
  const [search, setSearch] = useState("");
  const { register, watch, formState } = form;
  const isSome = watch("reach") === "some";
  const chosen = watch("domains");
  const matches = domains.filter(
    ({ id, name }) => chosen.includes(id) || name.includes(search.toLowerCase()),
  );
  const rules = {
    validate: (ids: string[]) => !isSome || ids.length > 0 || "Select at least one domain.",
  };
  return (
    <div className="flex flex-col gap-3">
      <RadioCards label="Sending domains" options={REACHES} {...register("reach")} />
      {isSome ? (
        <fieldset className="flex min-w-0 flex-col gap-3 rounded-lg border border-line p-4">
          <legend className="px-1 font-medium">Domains</legend>
          {formState.errors.domains ? (
            <p role="alert" className="text-bad text-xs">
              {formState.errors.domains.message}
            </p>
          ) : null}
          {domains.length >= searchFrom ? (
            <TextField
              label="Search domains"
              value={search}
              onChange={({ target }) => setSearch(target.value.trim())}
            />
          ) : null}
          <div className="flex max-h-56 flex-col gap-2.5 overflow-y-auto">
            {matches.map(({ id, name, status }) => (
              <CheckboxField
                key={id}
                value={id}
                label={
                  <span className="wrap-anywhere font-normal">
                    {name}
                    {status === "verified" ? "" : <span className="text-soft"> (not verified)</span>}
                  </span>
                }
                {...register("domains", rules)}
              />
            ))}
          </div>
        </fieldset>
      ) : null}
    </div>
  );
}
