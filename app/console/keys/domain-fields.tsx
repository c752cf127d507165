import { useState } from "react";
import { CheckboxField, RadioCards, TextField } from "../_ui/form";
import type { KeyForm, KeyOptions } from "./create-key-form";

/** From so many domains on there is a field to find them by. */
const searchedFrom = 9;

const REACH = [
  { value: "all", label: "Every domain", hint: "Those that are added later too." },
  { value: "some", label: "Chosen domains", hint: "Mail from any other is refused." },
];

/** The domains that a key may send from. */
export function DomainFields({ form, domains }: { form: KeyForm; domains: KeyOptions["domains"] }) {
  const [wanted, setWanted] = useState("");
  const { register, watch, formState } = form;
  const isSome = watch("reach") === "some";
  const chosen = watch("domains");
  const shown = domains.filter(({ id, name }) => chosen.includes(id) || name.includes(wanted.toLowerCase()));
  const rules = {
    validate: (ids: string[]) => !isSome || ids.length > 0 || "Tick at least one domain.",
  };
  return (
    <div className="flex flex-col gap-3">
      <RadioCards label="Which domains may it send from?" options={REACH} {...register("reach")} />
      {isSome ? (
        <fieldset className="flex min-w-0 flex-col gap-3 rounded-lg border border-line p-4">
          <legend className="px-1 font-medium">Domains</legend>
          {formState.errors.domains ? (
            <p role="alert" className="text-bad text-xs">
              {formState.errors.domains.message}
            </p>
          ) : null}
          {domains.length >= searchedFrom ? (
            <TextField
              label="Find a domain"
              value={wanted}
              onChange={({ target }) => setWanted(target.value.trim())}
            />
          ) : null}
          <div className="flex max-h-56 flex-col gap-2.5 overflow-y-auto">
            {shown.map(({ id, name, status }) => (
              <CheckboxField
                key={id}
                value={id}
                label={
                  <span className="wrap-anywhere font-normal">
                    {name}
                    {status === "verified" ? "" : <span className="text-soft"> (not verified yet)</span>}
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
