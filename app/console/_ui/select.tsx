import { ChevronDown } from "lucide-react";
import type { ComponentProps } from "react";
import { fieldStyle } from "./styles";

/** A browser's own choice of one, with our arrow: theirs differ from browser to browser. `className` is of its frame. */
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
