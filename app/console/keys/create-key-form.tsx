"use client";

import { type UseFormReturn, useForm } from "react-hook-form";
import { DialogActions } from "../_ui/dialog/dialog";
import type { Fault } from "../_ui/fault";
import { RadioCards, SelectField, SubmitButton, TextField } from "../_ui/form/form";
import { FormFault } from "../_ui/form/form-fault";
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
  { value: "sending", label: "Sending only", hint: "Sends email. Cannot read sent email." },
  { value: "full", label: "Full access", hint: "All permissions, including keys and webhooks." },
  { value: "custom", label: "Custom permissions", hint: "Only the permissions that you select." },
];

/** The permissions, domains, expiry and rate limits of a new key. */
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
        {...register("name", { validate: (text) => text.trim() !== "" || "Enter a name." })}
      />
      <RadioCards label="Permissions" options={PRESETS} {...register("preset")} />
      {watch("preset") === "custom" ? <ScopeFields form={form} /> : null}
      <DomainFields form={form} domains={options.domains} />
      <div className="grid gap-4 md:grid-cols-2">
        <SelectField label="Expires" {...register("expires")}>
          <option value="never">Never</option>
          <option value="7">In 7 days</option>
          <option value="30">In 30 days</option>
          <option value="90">In 90 days</option>
          <option value="365">In 1 year</option>
          <option value="date">At a specific time</option>
        </SelectField>
        {expires === "date" ? (
          <TextField
            label="Time"
            type="datetime-local"
            error={errors.expiresAt}
            {...register("expiresAt", {
              validate: (text) =>
                expires !== "date" || Date.parse(text) > Date.now() || "Choose a time in the future.",
            })}
          />
        ) : null}
      </div>
      <LimitFields form={form} defaults={options.limits} />
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
