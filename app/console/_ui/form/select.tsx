import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";
import { fieldStyle } from "../styles";

type Props = ComponentProps<"select"> & {
  /** Alternative to `option` elements as children. A text is its own label. */
  options?: readonly (string | { value: string; label: string })[];
};

/**
 * A native select with our own arrow, because browsers draw different ones. `className` applies to the
 * wrapper.
 */
export function Select({ className = "", options, children, ...select }: Props) {
  const entries = options?.map((option) =>
    typeof option === "string" ? { value: option, label: option } : option,
  );
  return (
    <span className={`relative block min-w-0 ${className}`}>
      <select {...select} className={`${fieldStyle} appearance-none truncate pr-9`}>
        {entries?.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        )) ?? children}
      </select>
      <ChevronDown className="pointer-events-none absolute top-1/2 right-3 size-4 -translate-y-1/2 text-soft" />
    </span>
  );
}
