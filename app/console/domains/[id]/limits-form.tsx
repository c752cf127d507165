"use client";

import { useForm } from "react-hook-form";
import { Dialog, DialogActions } from "../../_ui/dialog";
import { CheckboxField, SubmitButton, TextField } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import type { CardProps } from "./card";

type Fields = {
  cap: string;
  hasWarmUp: boolean;
  firstDay: string;
  growth: string;
  target: string;
};

const whole = (least: number, most: number) => ({
  pattern: { value: /^\s*\d+\s*$/, message: "A whole number." },
  validate: (text: string) =>
    text.trim() === "" ||
    (Number(text) >= least && Number(text) <= most) ||
    `From ${least.toLocaleString("en")} to ${most.toLocaleString("en")}.`,
});
const recipientsMax = 100_000_000;

/** Sets the daily cap and the warm-up together: the one may end the other. */
export function LimitsForm({ teamId, domain, refresh, onClose }: CardProps & { onClose: () => void }) {
  const trpc = useTRPC();
  const { id, dailyCap, warmUp } = domain;
  const { register, handleSubmit, watch, formState } = useForm<Fields>({
    defaultValues: {
      cap: dailyCap === null ? "" : String(dailyCap),
      hasWarmUp: warmUp !== null,
      firstDay: String(warmUp?.firstDay ?? 50),
      growth: String(warmUp?.growthPercent ?? 50),
      target: warmUp ? String(warmUp.target ?? "") : "20000",
    },
  });
  const { errors } = formState;
  const { act, isBusy, fault } = useAct(trpc.domains.update.mutationOptions(), {
    refresh,
    done: "Saved",
    onDone: onClose,
  });
  const save = ({ cap, hasWarmUp, firstDay, growth, target }: Fields) =>
    act({
      team: teamId,
      id,
      change: {
        dailyCap: cap.trim() === "" ? null : Number(cap),
        warmUp: hasWarmUp
          ? {
              startDate: warmUp?.startDate ?? null,
              firstDay: Number(firstDay),
              growthPercent: Number(growth),
              target: target.trim() === "" ? null : Number(target),
            }
          : null,
      },
    });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Daily limit"
      description="Recipients that mail from this domain may go to in a day of UTC. What comes above waits for the next day; nothing is refused."
    >
      <form onSubmit={handleSubmit(save)} className="flex flex-col gap-5" noValidate>
        <TextField
          label="Daily cap"
          hint="Leave it empty for none."
          inputMode="numeric"
          error={errors.cap}
          {...register("cap", whole(0, recipientsMax))}
        />
        <CheckboxField
          label="Warm the domain up"
          hint="It begins with few recipients and allows more each day, so that receivers come to know it."
          {...register("hasWarmUp")}
        />
        {watch("hasWarmUp") ? (
          <div className="grid gap-4 md:grid-cols-3">
            <TextField
              label="First day"
              inputMode="numeric"
              error={errors.firstDay}
              {...register("firstDay", { required: "Give a number.", ...whole(1, recipientsMax) })}
            />
            <TextField
              label="More each day, %"
              inputMode="numeric"
              error={errors.growth}
              {...register("growth", { required: "Give a number.", ...whole(1, 900) })}
            />
            <TextField
              label="Ends at"
              hint="Empty: at the daily cap."
              inputMode="numeric"
              error={errors.target}
              {...register("target", whole(1, recipientsMax))}
            />
          </div>
        ) : null}
        <FormFault fault={fault} />
        <DialogActions>
          <button type="button" onClick={onClose} className={`${buttonStyle.plain} h-10`}>
            Cancel
          </button>
          <SubmitButton isBusy={isBusy}>Save</SubmitButton>
        </DialogActions>
      </form>
    </Dialog>
  );
}
