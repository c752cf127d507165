"use client";

import { LoaderCircle } from "lucide-react";
import { type ComponentProps, type ReactNode, useId } from "react";
import { areaStyle, buttonStyle, fieldStyle } from "../styles";
import { ActionButton } from "./action-button";
import { Select } from "./select";

/** The error of a field: a sentence or an error of react-hook-form. */
export type FieldFault = string | { message?: string | undefined } | null | undefined;

type FieldText = {
  label: ReactNode;
  /** Help text below the field. It stays visible when there is an error. */
  hint?: ReactNode;
  error?: FieldFault;
};

const messageOf = (error: FieldFault) => (typeof error === "string" ? error : error?.message) || null;

/** The ids and ARIA attributes that connect a field with its label, hint and error. */
function useField({ hint, error }: Pick<FieldText, "hint" | "error">) {
  const id = useId();
  const message = messageOf(error);
  const describedBy = [hint ? `${id}-hint` : "", message ? `${id}-error` : ""].filter(Boolean).join(" ");
  const aria = {
    ...(describedBy ? { "aria-describedby": describedBy } : {}),
    ...(message ? { "aria-invalid": true } : {}),
  };
  return { id, message, aria };
}

type NotesProps = { id: string; hint: ReactNode; message: string | null };

const Notes = ({ id, hint, message }: NotesProps) => (
  <>
    {message ? (
      <p id={`${id}-error`} className="text-bad text-xs leading-5">
        {message}
      </p>
    ) : null}
    {hint ? (
      <p id={`${id}-hint`} className="text-soft text-xs leading-5">
        {hint}
      </p>
    ) : null}
  </>
);

type FieldAttributes = { id: string; "aria-describedby"?: string; "aria-invalid"?: boolean };
type FieldProps = FieldText & { children: (attributes: FieldAttributes) => ReactNode };

/** A control between its label and its notes. */
function Field({ label, hint, error, children }: FieldProps) {
  const { id, message, aria } = useField({ hint, error });
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <label htmlFor={id} className="w-fit font-medium">
        {label}
      </label>
      {children({ id, ...aria })}
      <Notes id={id} hint={hint} message={message} />
    </div>
  );
}

const monoStyle = (isMono: boolean | undefined) => (isMono ? "font-mono md:text-xs" : "");

type InputProps = FieldText & { isMono?: boolean } & ComponentProps<"input">;

/** A single-line text field. Accepts all props of `input`, including `{...register("name")}`. */
export const TextField = ({ label, hint, error, isMono, ...input }: InputProps) => (
  <Field label={label} hint={hint} error={error}>
    {(attributes) => (
      <input type="text" {...attributes} {...input} className={`${fieldStyle} ${monoStyle(isMono)}`} />
    )}
  </Field>
);

type AreaProps = FieldText & { isMono?: boolean } & ComponentProps<"textarea">;

/** A multi-line text field. */
export const TextAreaField = ({ label, hint, error, isMono, ...area }: AreaProps) => (
  <Field label={label} hint={hint} error={error}>
    {(attributes) => (
      <textarea rows={4} {...attributes} {...area} className={`${areaStyle} ${monoStyle(isMono)}`} />
    )}
  </Field>
);

/** A select field. */
export const SelectField = ({ label, hint, error, ...select }: FieldText & ComponentProps<typeof Select>) => (
  <Field label={label} hint={hint} error={error}>
    {(attributes) => <Select {...attributes} {...select} />}
  </Field>
);

/** A checkbox with its label and hint. */
export function CheckboxField({ label, hint, error, ...input }: FieldText & ComponentProps<"input">) {
  const { id, message, aria } = useField({ hint, error });
  return (
    <div className="flex gap-3 max-md:min-h-11">
      <input
        id={id}
        {...input}
        {...aria}
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent max-md:size-5"
      />
      <div className="flex min-w-0 flex-col gap-1">
        <label htmlFor={id} className="w-fit font-medium">
          {label}
        </label>
        <Notes id={id} hint={hint} message={message} />
      </div>
    </div>
  );
}

export type RadioOption = { value: string; label: ReactNode; hint?: ReactNode; isDisabled?: boolean };

/**
 * Radio buttons with a sentence each. Accepts the result of `register`, or `name` with `value` and
 * `onChange`.
 */
export function RadioCards({
  label,
  hint,
  error,
  options,
  value,
  ...input
}: FieldText & { options: readonly RadioOption[]; value?: string } & Omit<ComponentProps<"input">, "value">) {
  const { id, message, aria } = useField({ hint, error });
  return (
    <fieldset className="flex min-w-0 flex-col gap-2" {...aria}>
      <legend className="mb-2 font-medium">{label}</legend>
      {options.map((option, place) => (
        <div
          key={option.value}
          className="relative flex gap-3 rounded-lg border border-line px-3.5 py-3 hover:bg-sunk has-checked:border-accent has-checked:bg-sunk has-disabled:opacity-60 has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-2"
        >
          <input
            {...input}
            id={`${id}-${place}`}
            type="radio"
            value={option.value}
            disabled={option.isDisabled || input.disabled}
            {...(value === undefined ? {} : { checked: option.value === value })}
            {...(option.hint ? { "aria-describedby": `${id}-${place}-hint` } : {})}
            className="mt-0.5 size-4 shrink-0 accent-accent outline-none"
          />
          <div className="min-w-0">
            {/* The click target covers the whole card. */}
            <label
              htmlFor={`${id}-${place}`}
              className="cursor-pointer font-medium after:absolute after:inset-0 after:content-['']"
            >
              {option.label}
            </label>
            {option.hint ? (
              <p id={`${id}-${place}-hint`} className="text-soft text-xs leading-5">
                {option.hint}
              </p>
            ) : null}
          </div>
        </div>
      ))}
      <Notes id={id} hint={hint} message={message} />
    </fieldset>
  );
}

type GroupProps = {
  legend: string;
  error: { message?: string | undefined } | undefined;
  children: ReactNode;
};

/** A framed group of checkboxes, with the error of the group. */
export function Group({ legend, error, children }: GroupProps) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-4 rounded-lg border border-line p-4">
      <legend className="px-1 font-medium">{legend}</legend>
      {error ? (
        <p role="alert" className="text-bad text-xs">
          {error.message}
        </p>
      ) : null}
      {children}
    </fieldset>
  );
}

type SubmitProps = {
  isBusy?: boolean;
  tone?: "primary" | "danger";
  /** Why the user cannot submit the form. */
  disabledReason?: string | undefined;
  children: ReactNode;
} & Omit<ComponentProps<"button">, "type" | "className">;

/** Submits its form; disabled while `isBusy`. Outside the form, set `form` to the id of the form. */
export const SubmitButton = ({
  isBusy = false,
  tone = "primary",
  disabledReason,
  children,
  ...button
}: SubmitProps) => (
  <ActionButton
    type="submit"
    {...button}
    disabledReason={disabledReason}
    disabled={isBusy || button.disabled}
    className={`${buttonStyle[tone]} h-10`}
  >
    {isBusy ? <LoaderCircle className="size-4 motion-safe:animate-spin" /> : null}
    {children}
  </ActionButton>
);
