"use client";

import { X } from "lucide-react";
import { useId } from "react";
import { Select } from "../../_ui/form/select";
import { cardStyle, fieldStyle, iconButtonStyle } from "../../_ui/styles";
import { Badge } from "../../_ui/text/badge";
import { faultOfFallback, parseNumber, type VariableField } from "./fields";
import type { Samples } from "./stored";

type Props = {
  variables: readonly VariableField[];
  /** Variables that the saved version declares. */
  declared: readonly string[];
  used: readonly string[];
  raw: ReadonlySet<string>;
  samples: Samples;
  isReadOnly: boolean;
  onChange: (variables: VariableField[]) => void;
  onSample: (key: string, value: string) => void;
};

/** The variables of the template with their type, fallback and sample value. */
export function VariablesCard(props: Props) {
  const { variables, samples, isReadOnly, onChange, onSample } = props;
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
              badges={badgesOf(variable.key, props)}
              sample={samples[variable.key] ?? ""}
              isReadOnly={isReadOnly}
              onChange={(part) => change(variable.key, part)}
              onSample={(value) => onSample(variable.key, value)}
              {...(props.used.includes(variable.key)
                ? {}
                : { onRemove: () => onChange(variables.filter(({ key }) => key !== variable.key)) })}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

type BadgeProps = { tone: "info" | "warn" | "mute"; label: string; title: string };

function badgesOf(key: string, { declared, used, raw }: Props): BadgeProps[] {
  return [
    ...(declared.includes(key)
      ? []
      : [{ tone: "info" as const, label: "new", title: "Declared when you save" }]),
    ...(raw.has(key)
      ? [
          {
            tone: "warn" as const,
            label: "raw HTML",
            title: "The value is inserted without escaping",
          },
        ]
      : []),
    ...(used.includes(key)
      ? []
      : [{ tone: "mute" as const, label: "unused", title: "The template does not use it" }]),
  ];
}

type RowProps = {
  variable: VariableField;
  badges: BadgeProps[];
  sample: string;
  isReadOnly: boolean;
  onChange: (part: Partial<VariableField>) => void;
  onSample: (value: string) => void;
  /** Only for variables that the template does not use. */
  onRemove?: () => void;
};

function VariableRow({ variable, badges, sample, isReadOnly, onChange, onSample, onRemove }: RowProps) {
  const id = useId();
  const { key, type, isRequired, fallback } = variable;
  const fault = faultOfFallback(variable);
  const sampleFault =
    type === "number" && sample !== "" && parseNumber(sample) === null ? "Enter a number." : null;
  const small = `${fieldStyle} md:h-9`;
  return (
    <li className="grid grid-cols-2 gap-x-3 gap-y-2 px-4 py-3 md:grid-cols-[minmax(0,1.1fr)_6.5rem_minmax(0,1.2fr)_minmax(0,1.2fr)] md:items-start">
      <div className="col-span-2 flex min-w-0 flex-wrap items-center gap-1.5 md:col-span-1 md:min-h-9 md:pt-5">
        <code className="min-w-0 wrap-anywhere font-mono text-xs">{key}</code>
        {badges.map(({ tone, label, title }) => (
          <Badge key={label} tone={tone} title={title}>
            {label}
          </Badge>
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
          onChange={({ target }) => onChange({ type: target.value === "number" ? "number" : "string" })}
        >
          <option value="string">Text</option>
          <option value="number">Number</option>
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
        <input
          aria-label={`Fallback of ${key}`}
          value={fallback}
          disabled={isRequired || isReadOnly}
          maxLength={2_000}
          placeholder={isRequired ? "Required in each send" : "Empty"}
          onChange={({ target }) => onChange({ fallback: target.value })}
          {...(fault ? { "aria-invalid": true, "aria-describedby": `${id}-fault` } : {})}
          className={`${small} text-ink`}
        />
        {fault ? (
          <span id={`${id}-fault`} className="text-bad">
            {fault}
          </span>
        ) : null}
      </div>
      <label className="col-span-2 flex min-w-0 flex-col gap-1 text-soft text-xs md:col-span-1">
        Sample
        <input
          aria-label={`Sample of ${key}`}
          value={sample}
          maxLength={2_000}
          placeholder={isRequired ? `{{${key}}}` : fallback}
          onChange={({ target }) => onSample(target.value)}
          {...(sampleFault ? { "aria-invalid": true, "aria-describedby": `${id}-sample` } : {})}
          className={`${small} text-ink`}
        />
        {sampleFault ? (
          <span id={`${id}-sample`} className="text-bad">
            {sampleFault}
          </span>
        ) : null}
      </label>
    </li>
  );
}
