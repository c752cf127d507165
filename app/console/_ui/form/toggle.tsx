import type { ReactNode } from "react";

type Props<Value extends string> = {
  /** What is selected, for screen readers. */
  label: string;
  value: Value;
  /** `content` is shown instead of the label, such as an icon. */
  options: readonly { value: Value; label: string; content?: ReactNode }[];
  onChange: (value: Value) => void;
  className: string;
  itemClassName: string;
};

/** Selects one of a few options. All of them are visible. */
export function Toggle<Value extends string>(props: Props<Value>) {
  const { label, value, options, onChange, className, itemClassName } = props;
  return (
    <fieldset className={`flex flex-wrap ${className}`}>
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          aria-label={option.label}
          title={option.content ? option.label : undefined}
          onClick={() => onChange(option.value)}
          className={itemClassName}
        >
          {option.content ?? option.label}
        </button>
      ))}
    </fieldset>
  );
}
