"use client";

import { type ComponentProps, type MouseEvent, useId } from "react";

type Props = Omit<ComponentProps<"button">, "type"> & {
  type?: "button" | "submit";
  /** Why the user cannot use the button; undefined when they can. */
  disabledReason: string | undefined;
};

/**
 * A button that may be unavailable to the user. It then does nothing but stays focusable, and shows the
 * reason on hover, on keyboard focus, on touch and to screen readers.
 */
export function ActionButton({ disabledReason, type = "button", children, ...button }: Props) {
  const id = useId();
  if (disabledReason === undefined)
    return (
      <button type={type} {...button}>
        {children}
      </button>
    );
  return (
    <span className="contents">
      <button
        type={type}
        aria-label={button["aria-label"]}
        aria-disabled="true"
        aria-describedby={id}
        title={disabledReason}
        onClick={focusOnly}
        className={`peer ${button.className ?? ""}`}
      >
        {children}
      </button>
      <span
        id={id}
        className="sr-only whitespace-normal text-left font-normal text-ink text-sm leading-6 peer-focus:not-sr-only peer-focus:fixed peer-focus:inset-x-4 peer-focus:bottom-4 peer-focus:z-50 peer-focus:rounded-xl peer-focus:border peer-focus:border-line peer-focus:bg-page peer-focus:p-4 peer-focus:shadow-lg md:peer-focus:left-auto md:peer-focus:w-96"
      >
        {disabledReason}
      </span>
    </span>
  );
}

/** Some browsers do not focus a button on click. */
function focusOnly(event: MouseEvent<HTMLButtonElement>): void {
  event.preventDefault();
  event.currentTarget.focus();
}
