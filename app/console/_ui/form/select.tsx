import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";
import { fieldStyle } from "../styles";

/** A native select with our own arrow, because browsers draw different ones. `className` applies to the wrapper. */
export function Select({ className = "", ...select }: ComponentProps<"select">) {
  return (
    <span className={`relative block min-w-0 ${className}`}>
      <select {...select} className={`${fieldStyle} appearance-none truncate pr-9`} />
      <ChevronDown
        className="pointer-events-none absolute top-1/2 right-3 size-4 -translate-y-1/2 text-soft"
        aria-hidden="true"
      />
    </span>
  );
}
