"use client";

import { CircleAlert, CircleCheck } from "lucide-react";
import { useSyncExternalStore } from "react";
import { Toaster as Sonner } from "sonner";

const toastStyle = "font-sans text-sm bg-page text-ink border border-line rounded-xl shadow-lg";

const PHONE = "(width < 48rem)";
const subscribe = (onChange: () => void) => {
  const query = window.matchMedia(PHONE);
  query.addEventListener("change", onChange);
  return () => query.removeEventListener("change", onChange);
};
const useIsPhone = () =>
  useSyncExternalStore(
    subscribe,
    () => window.matchMedia(PHONE).matches,
    () => false,
  );

/** The margin at the top of a phone: the header with a gap. */
const belowHeader = { top: "4.5rem" };

/**
 * Toasts in the style of the console, at the bottom right. On phones they are at the top, because the buttons
 * of a dialog are at the bottom.
 */
export function Toaster() {
  const isPhone = useIsPhone();
  return (
    <Sonner
      // The classes have both themes. The dark theme of the library has a black close button.
      theme="light"
      position={isPhone ? "top-center" : "bottom-right"}
      {...(isPhone ? { offset: belowHeader, mobileOffset: belowHeader } : {})}
      closeButton
      icons={{
        success: <CircleCheck className="size-4.5 text-good" />,
        error: <CircleAlert className="size-4.5 text-bad" />,
      }}
      toastOptions={{
        unstyled: true,
        classNames: {
          toast: `${toastStyle} flex w-full items-start gap-2.5 p-4 pr-9`,
          icon: "mt-px shrink-0",
          content: "min-w-0 break-words",
          title: "font-medium",
          description: "mt-0.5 select-text break-all font-mono text-soft text-xs",
          actionButton:
            "ml-auto shrink-0 rounded-md border border-line px-2.5 py-1 font-medium hover:bg-sunk max-md:min-h-11",
          closeButton:
            "absolute top-2.5 right-2.5 grid size-7 place-items-center rounded-md text-soft hover:bg-sunk hover:text-ink",
        },
      }}
    />
  );
}
