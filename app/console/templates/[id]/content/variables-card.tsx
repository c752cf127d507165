"use client";

import { X } from "lucide-react";
import { useId } from "react";
import { faultOfKey } from "#server/shared/template-tags";
import {
  keysIn,
  namesInLists,
  optionalKeysIn,
  rawKeysIn,
  type VariableType,
} from "#server/shared/template-variables";
import { Button } from "../../../_ui/form/button";
import { Select } from "../../../_ui/form/select";
import { areaStyle, cardStyle, fieldStyle, iconButtonStyle } from "../../../_ui/styles";
import { type Label, LabelBadge } from "../../../_ui/text/badge";
import {
  type Fields,
  faultOfFallback,
  faultOfValue,
  type Samples,
  TYPE_NAMES,
  type VariableField,
} from "../fields";

type Props = {
  fields: Fields;
  variables: readonly VariableField[];
  /** Variables that the saved version declares. */
  declared: readonly string[];
  samples: Samples;
  isReadOnly: boolean;
  onChange: (variables: VariableField[]) => void;
  onSample: (key: string, value: string) => void;
};

/** The variables of the template with their type, fallback and sample value. */
export function VariablesCard({ fields, variables, declared, samples, isReadOnly, ...on }: Props) {
  const { onChange, onSample } = on;
  const sources = [fields.subject, fields.html, fields.text ?? ""];
  const inLists = namesInLists(...sources);
  const undeclared = [...inLists].filter(
    (name) => faultOfKey(name) === null && !variables.some(({ key }) => key === name),
  );
  const used = new Set([...keysIn(...sources), ...inLists]);
  const raw = rawKeysIn(fields.html);
  const optional = optionalKeysIn(...sources);
  const change = (key: string, part: Partial<VariableField>) =>
    onChange(variables.map((variable) => (variable.key === key ? { ...variable, ...part } : variable)));
  return (
    <section aria-label="Variables" className={`${cardStyle} overflow-hidden`}>
      <div className="border-line border-b px-4 py-3">
        <h2 className="font-semibold">Variables</h2>
        <p className="mt-0.5 text-soft text-xs leading-5">
          Variables such as <code className="font-mono">{"{{NAME}}"}</code> appear here when the template uses
          them. Sample values are stored in this browser, for the preview and test emails.
        </p>
      </div>
      {variables.length === 0 ? (
        <p className="px-4 py-8 text-center text-soft">
          No variables. Every recipient gets the same content.
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {variables.map((variable) => (
            <VariableRow
              key={variable.key}
              variable={variable}
              badges={[
                ...(declared.includes(variable.key) ? [] : [BADGES.new]),
                ...(raw.has(variable.key) ? [BADGES.raw] : []),
                ...(used.has(variable.key) ? [] : [BADGES.unused]),
              ]}
              isOptional={optional.has(variable.key)}
              sample={samples[variable.key] ?? ""}
              isReadOnly={isReadOnly}
              onChange={(part) => change(variable.key, part)}
              onSample={(value) => onSample(variable.key, value)}
              onRemove={
                used.has(variable.key)
                  ? null
                  : () => onChange(variables.filter(({ key }) => key !== variable.key))
              }
            />
          ))}
        </ul>
      )}
      {undeclared.length > 0 && !isReadOnly ? (
        <div className="flex flex-wrap items-center gap-2 border-line border-t px-4 py-3 text-soft text-xs leading-5">
          <span>Names inside lists are fields of the items. Declare those that are variables:</span>
          {undeclared.slice(0, listedMax).map((key) => (
            <Button
              key={key}
              isSmall
              aria-label={`Declare ${key}`}
              onClick={() =>
                onChange([...variables, { key, type: "string", isRequired: true, fallback: "" }])
              }
            >
              {key}
            </Button>
          ))}
        </div>
      ) : null}
    </section>
  );
}

/** Names inside lists that are offered. */
const listedMax = 12;

const BADGES = {
  new: { tone: "info", label: "new", description: "Declared when you save" },
  raw: { tone: "warn", label: "raw HTML", description: "The value is inserted without escaping" },
  unused: { tone: "mute", label: "unused", description: "The template does not use it" },
} satisfies Record<string, Label>;

type RowProps = {
  variable: VariableField;
  badges: Label[];
  /** `{{#if}}` checks it, so sends may omit it. */
  isOptional: boolean;
  sample: string;
  isReadOnly: boolean;
  onChange: (part: Partial<VariableField>) => void;
  onSample: (value: string) => void;
  /** Null if the template uses the variable. */
  onRemove: (() => void) | null;
};

const PLACEHOLDERS: Partial<Record<VariableType, string>> = {
  list: '[{"name": "Ann"}]',
  object: '{"name": "Ann"}',
};

function VariableRow(props: RowProps) {
  const { variable, badges, isOptional, sample, isReadOnly, onChange, onSample, onRemove } = props;
  const id = useId();
  const { key, type, isRequired, fallback } = variable;
  const fault = faultOfFallback(variable);
  const sampleFault = sample === "" ? null : faultOfValue(type, sample);
  const isJson = type === "list" || type === "object";
  return (
    <li className="grid grid-cols-2 gap-x-3 gap-y-2 px-4 py-3 md:grid-cols-[minmax(0,1.1fr)_6.5rem_minmax(0,1.2fr)_minmax(0,1.2fr)] md:items-start">
      <div className="col-span-2 flex min-w-0 flex-wrap items-center gap-1.5 md:col-span-1 md:min-h-9 md:pt-5">
        <code className="min-w-0 wrap-anywhere font-mono text-xs">{key}</code>
        {badges.map((badge) => (
          <LabelBadge key={badge.label} {...badge} />
        ))}
        {onRemove && !isReadOnly ? (
          <button type="button" onClick={onRemove} aria-label={`Remove ${key}`} className={iconButtonStyle}>
            <X className="size-4" aria-hidden="true" />
          </button>
        ) : null}
      </div>
      <label className="flex flex-col gap-1 text-soft text-xs" htmlFor={`${id}-type`}>
        Type
        <Select
          id={`${id}-type`}
          aria-label={`Type of ${key}`}
          value={type}
          disabled={isReadOnly}
          onChange={({ target }) => onChange({ type: target.value as VariableType })}
        >
          {Object.entries(TYPE_NAMES).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </Select>
      </label>
      <div className="flex min-w-0 flex-col gap-1 text-soft text-xs">
        <label className="flex items-center gap-1.5">
          <input
            type="checkbox"
            checked={!isRequired}
            disabled={isReadOnly}
            onChange={({ target }) => onChange({ isRequired: !target.checked })}
            aria-label={`${key} has a fallback`}
            className="size-3.5 accent-accent"
          />
          Fallback
        </label>
        <ValueField
          id={`${id}-fallback`}
          label={`Fallback of ${key}`}
          value={fallback}
          fault={fault}
          disabled={isRequired || isReadOnly}
          placeholder={
            isRequired ? (isOptional ? "Optional in each send" : "Required in each send") : "Empty"
          }
          isJson={isJson}
          onChange={(text) => onChange({ fallback: text })}
        />
      </div>
      <label
        htmlFor={`${id}-sample`}
        className="col-span-2 flex min-w-0 flex-col gap-1 text-soft text-xs md:col-span-1"
      >
        Sample
        <ValueField
          id={`${id}-sample`}
          label={`Sample of ${key}`}
          value={sample}
          fault={sampleFault}
          placeholder={isRequired ? (PLACEHOLDERS[type] ?? `{{${key}}}`) : fallback}
          isJson={isJson}
          onChange={onSample}
        />
      </label>
    </li>
  );
}

type ValueProps = {
  id: string;
  label: string;
  value: string;
  fault: string | null;
  disabled?: boolean;
  placeholder: string;
  isJson: boolean;
  onChange: (text: string) => void;
};

function ValueField({ id, label, fault, isJson, onChange, ...input }: ValueProps) {
  const field = {
    id,
    "aria-label": label,
    ...input,
    ...(fault ? { "aria-invalid": true, "aria-describedby": `${id}-fault` } : {}),
  };
  return (
    <>
      {isJson ? (
        <textarea
          {...field}
          maxLength={20_000}
          rows={3}
          spellCheck={false}
          onChange={({ target }) => onChange(target.value)}
          className={`${areaStyle} font-mono text-ink text-xs`}
        />
      ) : (
        <input
          {...field}
          maxLength={2_000}
          onChange={({ target }) => onChange(target.value)}
          className={`${fieldStyle} text-ink md:h-9`}
        />
      )}
      {fault ? (
        <span id={`${id}-fault`} className="text-bad">
          {fault}
        </span>
      ) : null}
    </>
  );
}
