"use client";

import { CircleAlert, CircleCheck } from "lucide-react";
import { useTheme } from "next-themes";
import { Toaster as Sonner } from "sonner";

const toastStyle = "font-sans text-sm bg-page text-ink border border-line rounded-xl shadow-lg";

/** Toasts in the style of the console, at the bottom right. */
export function Toaster() {
  const { resolvedTheme } = useTheme();
  return (
    <Sonner
      theme={resolvedTheme === "dark" ? "dark" : "light"}
      position="bottom-right"
      closeButton
      icons={{
        success: <CircleCheck className="size-4.5 text-good" aria-hidden="true" />,
        error: <CircleAlert className="size-4.5 text-bad" aria-hidden="true" />,
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
