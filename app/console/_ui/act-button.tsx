"use client";

import { type ComponentProps, type MouseEvent, useId } from "react";

type Props = Omit<ComponentProps<"button">, "type"> & {
  type?: "button" | "submit";
  /** Why it is closed to the reader; undefined where it is open. */
  whyNot: string | undefined;
};

/**
 * A button of an act that may be closed to its reader. Then it does nothing, but can be reached, and says why: to whoever
 * hovers, comes to it by the keyboard, presses it with a finger, or hears it read out.
 */
export function ActButton({ whyNot, type = "button", children, ...button }: Props) {
  const id = useId();
  if (whyNot === undefined)
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
        title={whyNot}
        onClick={stay}
        className={`peer ${button.className ?? ""}`}
      >
        {children}
      </button>
      <span
        id={id}
        className="sr-only whitespace-normal text-left font-normal text-ink text-sm leading-6 peer-focus:not-sr-only peer-focus:fixed peer-focus:inset-x-4 peer-focus:bottom-4 peer-focus:z-50 peer-focus:rounded-xl peer-focus:border peer-focus:border-line peer-focus:bg-page peer-focus:p-4 peer-focus:shadow-lg md:peer-focus:left-auto md:peer-focus:w-96"
      >
        {whyNot}
      </span>
    </span>
  );
}

/** Not every browser gives the focus to what is pressed. */
function stay(event: MouseEvent<HTMLButtonElement>): void {
  event.preventDefault();
  event.currentTarget.focus();
}
