import { useState } from "react";
import { TextField } from "../_ui/form";
import type { KeyForm, KeyOptions } from "./create-key-form";
import { TIER_WORDS, TIERS } from "./limits";

/** Limits of the key's own, folded away: most keys need none. */
export function LimitFields({ form, usual }: { form: KeyForm; usual: KeyOptions["limits"] }) {
  const { register, formState } = form;
  const faults = formState.errors.limits;
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="rounded-lg border border-line"
      open={isOpen || faults !== undefined}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="rounded-lg px-4 py-3 font-medium">Lower limits of its own</summary>
      <div className="flex flex-col gap-4 px-4 pb-4">
        <p className="text-soft text-xs leading-5">
          Calls a minute. Empty means the usual number. Higher limits are set on the command line of the
          operator.
        </p>
        <div className="grid gap-4 md:grid-cols-2">
          {TIERS.map((tier, place) => {
            const max = usual[tier] ?? 1;
            return (
              <TextField
                key={tier}
                label={TIER_WORDS[tier]}
                inputMode="numeric"
                autoComplete="off"
                placeholder={`${max}, as usual`}
                error={faults?.[place]}
                {...register(`limits.${place}`, {
                  validate: (text) => {
                    if (text === "") return true;
                    const number = Number(text);
                    return (
                      (Number.isInteger(number) && number >= 1 && number <= max) ||
                      `A whole number from 1 to ${max}.`
                    );
                  },
                })}
              />
            );
          })}
        </div>
      </div>
    </details>
  );
}
