"use client";

import { FormDialog } from "../../_ui/dialog/form-dialog";
import { CheckboxField, TextField } from "../../_ui/form/form";
import { useFields } from "../../_ui/form/use-fields";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { CardProps } from "./cards";

type Fields = { cap: string; hasWarmUp: boolean; firstDay: string; growth: string; target: string };

const wholeNumber = (min: number, max: number) => ({
  pattern: { value: /^\s*\d+\s*$/, message: "Enter a whole number." },
  validate: (text: string) =>
    text.trim() === "" ||
    (Number(text) >= min && Number(text) <= max) ||
    `Enter a number from ${min.toLocaleString("en")} to ${max.toLocaleString("en")}.`,
});
const recipientsMax = 100_000_000;

/** Sets the daily cap and the warm-up in one update, because the cap can be the target of the warm-up. */
export function LimitsForm({ teamId, domain, onClose }: CardProps & { onClose: () => void }) {
  const trpc = useTRPC();
  const { id, daily_cap: dailyCap, warm_up: warmUp } = domain;
  const { field, handleSubmit, watch } = useFields<Fields>({
    defaultValues: {
      cap: dailyCap === null ? "" : String(dailyCap),
      hasWarmUp: warmUp !== null,
      firstDay: String(warmUp?.first_day ?? 50),
      growth: String(warmUp?.growth_percent ?? 50),
      target: warmUp ? String(warmUp.target ?? "") : "20000",
    },
  });
  const action = useAction(trpc.domains.update.mutationOptions(), {
    refresh: [trpc.domains.pathKey()],
    done: "Saved",
    onDone: onClose,
  });
  const save = ({ cap, hasWarmUp, firstDay, growth, target }: Fields) =>
    action.run({
      team: teamId,
      id,
      change: {
        dailyCap: cap.trim() === "" ? null : Number(cap),
        warmUp: hasWarmUp
          ? {
              startDate: warmUp?.start_date ?? null,
              firstDay: Number(firstDay),
              growthPercent: Number(growth),
              target: target.trim() === "" ? null : Number(target),
            }
          : null,
      },
    });
  return (
    <FormDialog
      onClose={onClose}
      title="Daily cap"
      description="The maximum number of recipients per UTC day for email from this domain. Email above the cap is queued until the next day. It is not rejected."
      onSubmit={handleSubmit(save)}
      action={action}
      submitLabel="Save"
    >
      <TextField
        label="Daily cap"
        hint="Leave empty for no cap."
        inputMode="numeric"
        {...field("cap", wholeNumber(0, recipientsMax))}
      />
      <CheckboxField
        label="Warm up the domain"
        hint="The cap starts low and grows each day while the domain builds its reputation."
        {...field("hasWarmUp")}
      />
      {watch("hasWarmUp") ? (
        <div className="grid gap-4 md:grid-cols-3">
          <TextField
            label="First day"
            inputMode="numeric"
            {...field("firstDay", { required: "Enter a number.", ...wholeNumber(1, recipientsMax) })}
          />
          <TextField
            label="Daily growth (%)"
            inputMode="numeric"
            {...field("growth", { required: "Enter a number.", ...wholeNumber(1, 900) })}
          />
          <TextField
            label="Target"
            hint="Leave empty to use the daily cap."
            inputMode="numeric"
            {...field("target", wholeNumber(1, recipientsMax))}
          />
        </div>
      ) : null}
    </FormDialog>
  );
}
