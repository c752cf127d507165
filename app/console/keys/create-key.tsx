"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { LIMIT_PER_MINUTE, TIERS } from "#server/shared/rate-limits";
import type { setupOf } from "#server/trpc/domains/views";
import { Dialog } from "../_ui/dialog/dialog";
import { ActionForm } from "../_ui/form/action-form";
import { CheckboxField, Group, RadioCards, SelectField, TextAreaField, TextField } from "../_ui/form/form";
import { type Fields, filled, useFields } from "../_ui/form/use-fields";
import { SkeletonCard } from "../_ui/list/skeleton";
import { Fetched } from "../_ui/page/fetched";
import { useTRPC } from "../_ui/trpc";
import { type ActionState, useAction } from "../_ui/use-action";
import { HEALTH } from "../domains/labels";
import { NETWORKS_EXAMPLE, NETWORKS_HINT, SCOPE_GROUPS, SCOPE_LABELS, TIER_LABELS } from "./labels";
import { EMPTY_KEY, type NewKeyFields, NewSecret, newKeyInput } from "./new-key";

type Props = {
  teamId: string;
  publicUrl: string;
  onClose: () => void;
};

/** Creates a key, then shows its secret once. Closing the dialog discards the secret. */
export function CreateKey({ teamId, publicUrl, onClose }: Props) {
  const trpc = useTRPC();
  const [created, setCreated] = useState<{ scopes: readonly string[]; domains: Domain[] } | null>(null);
  const options = useQuery(trpc.keys.options.queryOptions({ team: teamId }));
  const action = useAction(trpc.keys.create.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.keys.list.queryKey()],
  });
  const create = (fields: NewKeyFields) => {
    const input = newKeyInput(fields, Date.now());
    const domains =
      options.data?.domains.filter(({ id }) => input.domains !== "all" && input.domains.includes(id)) ?? [];
    setCreated({ scopes: input.scopes, domains });
    action.run({ team: teamId, ...input });
  };

  if (action.result && created)
    return (
      <Dialog onOpenChange={onClose} title="New key" size="wide" isPersistent>
        <NewSecret token={action.result.token} publicUrl={publicUrl} of={created} onStored={onClose} />
      </Dialog>
    );
  return (
    <Dialog
      onOpenChange={onClose}
      title="Create API key"
      description="Use one key for each program. You can then limit and revoke each one separately."
      size="wide"
    >
      <Fetched by={options} isBare loading={<SkeletonCard lines={6} />}>
        {({ domains }) => (
          <CreateKeyForm domains={domains} action={action} onCreate={create} onCancel={onClose} />
        )}
      </Fetched>
    </Dialog>
  );
}

type Domain = { id: string; name: string; setup: ReturnType<typeof setupOf> };
type FormProps = {
  domains: Domain[];
  action: ActionState;
  onCreate: (fields: NewKeyFields) => void;
  onCancel: () => void;
};
type Form = { form: Fields<NewKeyFields> };

/** The number of domains from which the list has a search field. */
const searchFrom = 9;

const PRESETS = [
  { value: "sending", label: "Sending only", hint: "Sends email. Cannot read sent email." },
  { value: "full", label: "Full access", hint: "All permissions, including keys and webhooks." },
  { value: "custom", label: "Custom permissions", hint: "Only the permissions that you select." },
];

const REACHES = [
  { value: "all", label: "All domains", hint: "Including domains added later." },
  { value: "some", label: "Selected domains", hint: "Email from any other domain is rejected." },
];

/** The permissions, domains, expiry and rate limits of a new key. */
function CreateKeyForm({ domains, action, onCreate, onCancel }: FormProps) {
  const form = useFields<NewKeyFields>({ defaultValues: EMPTY_KEY });
  const { field, handleSubmit, watch } = form;
  const expires = watch("expires");

  return (
    <ActionForm
      onSubmit={handleSubmit(onCreate)}
      action={action}
      onCancel={onCancel}
      submitLabel="Create key"
    >
      <TextField
        label="Name"
        hint="The program that will use it."
        placeholder="Shop, production"
        autoComplete="off"
        maxLength={50}
        {...field("name", filled("Enter a name."))}
      />
      <RadioCards label="Permissions" options={PRESETS} {...field("preset")} />
      {watch("preset") === "custom" ? <ScopeFields form={form} /> : null}
      <div className="flex flex-col gap-3">
        <RadioCards label="Sending domains" options={REACHES} {...field("reach")} />
        {watch("reach") === "some" ? <DomainFields form={form} domains={domains} /> : null}
      </div>
      <div className="grid gap-4 md:grid-cols-2">
        <SelectField label="Expires" {...field("expires")}>
          <option value="never">No expiry</option>
          <option value="1">In 1 day</option>
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
            {...field("expiresAt", {
              validate: (text) =>
                expires !== "date" || Date.parse(text) > Date.now() || "Choose a time in the future.",
            })}
          />
        ) : null}
      </div>
      <TextAreaField
        label="Client networks"
        hint={NETWORKS_HINT}
        placeholder={NETWORKS_EXAMPLE}
        rows={2}
        isMono
        autoComplete="off"
        spellCheck={false}
        {...field("networks")}
      />
      <LimitFields form={form} />
    </ActionForm>
  );
}

/** A checkbox for every permission, grouped by resource. */
function ScopeFields({ form: { register, formState } }: Form) {
  const rules = { validate: (scopes: string[]) => scopes.length > 0 || "Select at least one permission." };
  return (
    <Group legend="Permissions" error={formState.errors.scopes}>
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
    </Group>
  );
}

/** A checkbox for every domain of the team. */
function DomainFields({ form: { register, watch, formState }, domains }: Form & { domains: Domain[] }) {
  const [search, setSearch] = useState("");
  const chosen = watch("domains");
  const matches = domains.filter(
    ({ id, name }) => chosen.includes(id) || name.includes(search.toLowerCase()),
  );
  const rules = {
    validate: (ids: string[], { reach }: NewKeyFields) =>
      reach === "all" || ids.length > 0 || "Select at least one domain.",
  };
  return (
    <Group legend="Domains" error={formState.errors.domains}>
      {domains.length >= searchFrom ? (
        <TextField
          label="Search domains"
          value={search}
          onChange={({ target }) => setSearch(target.value.trim())}
        />
      ) : null}
      <div className="flex flex-col gap-2.5">
        {matches.map(({ id, name, setup }) => (
          <CheckboxField
            key={id}
            value={id}
            label={
              <span className="wrap-anywhere font-normal">
                {name}
                {setup === null ? null : <span className="text-soft"> · {HEALTH[setup].label}</span>}
              </span>
            }
            {...register("domains", rules)}
          />
        ))}
      </div>
    </Group>
  );
}

/** Custom rate limits of a key. Collapsed, because most keys need none. */
function LimitFields({ form: { field, formState } }: Form) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className="rounded-lg border border-line"
      open={isOpen || formState.errors.limits !== undefined}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="rounded-lg px-4 py-3 font-medium">Custom rate limits</summary>
      <div className="flex flex-col gap-4 px-4 pb-4">
        <p className="text-soft text-xs leading-5">
          Requests per minute. Leave empty for the default. The operator can set higher limits with the CLI.
        </p>
        <div className="grid gap-4 md:grid-cols-2">
          {TIERS.map((tier, index) => (
            <TextField
              key={tier}
              label={TIER_LABELS[tier]}
              inputMode="numeric"
              autoComplete="off"
              placeholder={`${LIMIT_PER_MINUTE[tier]} (default)`}
              {...field(`limits.${index}`, {
                validate: (text) => faultOfLimit(text, LIMIT_PER_MINUTE[tier]),
              })}
            />
          ))}
        </div>
      </div>
    </details>
  );
}

function faultOfLimit(text: string, max: number): string | undefined {
  const number = Number(text);
  const isValid = text === "" || (Number.isInteger(number) && number >= 1 && number <= max);
  return isValid ? undefined : `Enter a whole number from 1 to ${max}.`;
}
