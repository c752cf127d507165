"use client";

import { type UseFormReturn, useForm } from "react-hook-form";
import { DialogActions } from "../_ui/dialog";
import type { Fault } from "../_ui/fault";
import { RadioCards, SelectField, SubmitButton, TextField } from "../_ui/form";
import { FormFault } from "../_ui/form-fault";
import { buttonStyle } from "../_ui/styles";
import { DomainFields } from "./domain-fields";
import { LimitFields } from "./limit-fields";
import { EMPTY_KEY, type NewKeyFields } from "./new-key";
import { ScopeFields } from "./scope-fields";

export type KeyOptions = {
  domains: { id: string; name: string; status: string }[];
  limits: Record<string, number>;
};

export type KeyForm = UseFormReturn<NewKeyFields>;

type Props = {
  options: KeyOptions;
  isBusy: boolean;
  fault: Fault | null;
  onCreate: (fields: NewKeyFields) => void;
  onCancel: () => void;
};

const PRESETS = [
  { value: "sending", label: "Sending only", hint: "It may send mail. It cannot read what was sent." },
  { value: "full", label: "Full access", hint: "It may do everything, keys and webhooks included." },
  { value: "custom", label: "Chosen permissions", hint: "It may do what you tick, and nothing else." },
];

/** What a new key may do, from where, for how long and how often. */
export function CreateKeyForm({ options, isBusy, fault, onCreate, onCancel }: Props) {
  const form = useForm<NewKeyFields>({ defaultValues: EMPTY_KEY });
  const { register, handleSubmit, watch, formState } = form;
  const { errors } = formState;
  const expires = watch("expires");

  return (
    <form onSubmit={handleSubmit(onCreate)} noValidate className="flex flex-col gap-6">
      <TextField
        label="Name"
        hint="The program that will use it."
        placeholder="Shop, production"
        autoComplete="off"
        maxLength={50}
        error={errors.name}
        {...register("name", { validate: (text) => text.trim() !== "" || "Give it a name." })}
      />
      <RadioCards label="What may it do?" options={PRESETS} {...register("preset")} />
      {watch("preset") === "custom" ? <ScopeFields form={form} /> : null}
      <DomainFields form={form} domains={options.domains} />
      <div className="grid gap-4 md:grid-cols-2">
        <SelectField label="Ends" {...register("expires")}>
          <option value="never">Never</option>
          <option value="7">In 7 days</option>
          <option value="30">In 30 days</option>
          <option value="90">In 90 days</option>
          <option value="365">In a year</option>
          <option value="date">At a time of your choice</option>
        </SelectField>
        {expires === "date" ? (
          <TextField
            label="Time"
            type="datetime-local"
            error={errors.expiresAt}
            {...register("expiresAt", {
              validate: (text) =>
                expires !== "date" || Date.parse(text) > Date.now() || "Choose a time that is still to come.",
            })}
          />
        ) : null}
      </div>
      <LimitFields form={form} usual={options.limits} />
      <FormFault fault={fault} />
      <DialogActions>
        <button type="button" onClick={onCancel} className={`${buttonStyle.plain} h-10`}>
          Cancel
        </button>
        <SubmitButton isBusy={isBusy}>Create key</SubmitButton>
      </DialogActions>
    </form>
  );
}
