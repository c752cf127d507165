import { useState } from "react";
import { TextField } from "../_ui/form/form";
import type { KeyForm, KeyOptions } from "./create-key-form";
import { TIER_LABELS, TIERS } from "./limits";

/** Custom rate limits of a key. Collapsed, because most keys need none. */
export function LimitFields({ form, defaults }: { form: KeyForm; defaults: KeyOptions["limits"] }) {
  const { register, formState } = form;
  const faults = formState.errors.limits;
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="rounded-lg border border-line"
      open={isOpen || faults !== undefined}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="rounded-lg px-4 py-3 font-medium">Custom rate limits</summary>
      <div className="flex flex-col gap-4 px-4 pb-4">
        <p className="text-soft text-xs leading-5">
          Requests per minute. Leave empty for the default. The operator can set higher limits with the CLI.
        </p>
        <div className="grid gap-4 md:grid-cols-2">
          {TIERS.map((tier, index) => {
            const max = defaults[tier] ?? 1;
            return (
              <TextField
                key={tier}
                label={TIER_LABELS[tier]}
                inputMode="numeric"
                autoComplete="off"
                placeholder={`${max} (default)`}
                error={faults?.[index]}
                {...register(`limits.${index}`, {
                  validate: (text) => {
                    if (text === "") return true;
                    const number = Number(text);
                    return (
                      (Number.isInteger(number) && number >= 1 && number <= max) ||
                      `Enter a whole number from 1 to ${max}.`
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
