"use client";

import { LoaderCircle } from "lucide-react";
import { type ComponentProps, type ReactNode, useId } from "react";
import { ActButton } from "./act-button";
import { Select } from "./select";
import { areaStyle, buttonStyle, fieldStyle } from "./styles";

/** What is wrong with a field: a sentence, or react-hook-form's own error. */
export type FieldFault = string | { message?: string | undefined } | null | undefined;

type Said = {
  label: ReactNode;
  /** What helps to fill it in; stands below, also while something is wrong. */
  hint?: ReactNode;
  error?: FieldFault;
};

const sayFault = (error: FieldFault) => (typeof error === "string" ? error : error?.message) || null;

/** The ids by which a field's label, hint and error belong to it. */
function useField({ hint, error }: Pick<Said, "hint" | "error">) {
  const id = useId();
  const said = sayFault(error);
  const describedBy = [hint ? `${id}-hint` : "", said ? `${id}-error` : ""].filter(Boolean).join(" ");
  const aria = {
    ...(describedBy ? { "aria-describedby": describedBy } : {}),
    ...(said ? { "aria-invalid": true } : {}),
  };
  return { id, said, aria };
}

type Noted = { id: string; hint: ReactNode; said: string | null };

function Notes({ id, hint, said }: Noted) {
  return (
    <>
      {said ? (
        <p id={`${id}-error`} className="text-bad text-xs leading-5">
          {said}
        </p>
      ) : null}
      {hint ? (
        <p id={`${id}-hint`} className="text-soft text-xs leading-5">
          {hint}
        </p>
      ) : null}
    </>
  );
}

function Labelled({ id, label, hint, said, children }: Noted & { label: ReactNode; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <label htmlFor={id} className="w-fit font-medium">
        {label}
      </label>
      {children}
      <Notes id={id} hint={hint} said={said} />
    </div>
  );
}

/** One line of text. Takes what an input takes, so `{...register("name")}` too. */
export function TextField({
  label,
  hint,
  error,
  isMono,
  ...input
}: Said & { isMono?: boolean } & ComponentProps<"input">) {
  const { id, said, aria } = useField({ hint, error });
  return (
    <Labelled id={id} label={label} hint={hint} said={said}>
      <input
        id={id}
        type="text"
        {...input}
        {...aria}
        className={`${fieldStyle} ${isMono ? "font-mono md:text-xs" : ""}`}
      />
    </Labelled>
  );
}

/** Several lines of text. */
export function TextAreaField({
  label,
  hint,
  error,
  isMono,
  ...area
}: Said & { isMono?: boolean } & ComponentProps<"textarea">) {
  const { id, said, aria } = useField({ hint, error });
  return (
    <Labelled id={id} label={label} hint={hint} said={said}>
      <textarea
        id={id}
        rows={4}
        {...area}
        {...aria}
        className={`${areaStyle} ${isMono ? "font-mono md:text-xs" : ""}`}
      />
    </Labelled>
  );
}

/** One of a few; its `option`s are the children. */
export function SelectField({ label, hint, error, children, ...select }: Said & ComponentProps<"select">) {
  const { id, said, aria } = useField({ hint, error });
  return (
    <Labelled id={id} label={label} hint={hint} said={said}>
      <Select id={id} {...select} {...aria}>
        {children}
      </Select>
    </Labelled>
  );
}

/** Yes or no. The whole line is its label. */
export function CheckboxField({ label, hint, error, ...input }: Said & ComponentProps<"input">) {
  const { id, said, aria } = useField({ hint, error });
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
        <Notes id={id} hint={hint} said={said} />
      </div>
    </div>
  );
}

export type RadioOption = { value: string; label: ReactNode; hint?: ReactNode; isDisabled?: boolean };

/** One of a few that need a sentence each. Takes `register`'s spread, or `name` with `value` and `onChange`. */
export function RadioCards({
  label,
  hint,
  error,
  options,
  value,
  ...input
}: Said & { options: readonly RadioOption[]; value?: string } & Omit<ComponentProps<"input">, "value">) {
  const { id, said, aria } = useField({ hint, error });
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
            {/* Stretched over the whole card. */}
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
      <Notes id={id} hint={hint} said={said} />
    </fieldset>
  );
}

type SubmitProps = {
  isBusy?: boolean;
  tone?: "primary" | "danger";
  /** Why the reader may not send it. */
  whyNot?: string | undefined;
  children: ReactNode;
} & Omit<ComponentProps<"button">, "type" | "className">;

/** Sends its form, and cannot be pressed twice. Outside of the form, `form` names it. */
export function SubmitButton({ isBusy = false, tone = "primary", whyNot, children, ...button }: SubmitProps) {
  return (
    <ActButton
      type="submit"
      {...button}
      whyNot={whyNot}
      disabled={isBusy || button.disabled}
      className={`${buttonStyle[tone]} h-10`}
    >
      {isBusy ? <LoaderCircle className="size-4 motion-safe:animate-spin" aria-hidden="true" /> : null}
      {children}
    </ActButton>
  );
}
