"use client";

import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { iconButtonStyle } from "../styles";
import { AddressText } from "../text/address";
import { DialogActions } from "./dialog-actions";
import { useDialogFocus } from "./focus";

export type DialogProps = {
  /** Without it, the dialog is open as long as it is mounted. */
  open?: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  /** Buttons, the primary one last. A form renders its own in `DialogActions` instead. */
  footer?: ReactNode;
  size?: "normal" | "wide";
  /**
   * Only its own buttons close the dialog. For content that would be lost if it were dismissed by accident.
   */
  isPersistent?: boolean;
  /** For a confirmation. */
  role?: "alertdialog";
  children?: ReactNode;
};

const WIDTHS = { normal: "md:max-w-lg", wide: "md:max-w-3xl" };

/** The dialog itself. A long one scrolls, and its title and `DialogActions` stay visible. */
export function DialogFrame(props: DialogProps) {
  const { open, onOpenChange, title, description, footer, size = "normal", isPersistent, children } = props;
  const focus = useDialogFocus();
  const preventClose = (event: Event) => {
    if (isPersistent) event.preventDefault();
  };
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40 motion-safe:data-[state=open]:animate-[fade-in_120ms_ease-out]" />
        <Radix.Content
          {...(props.role ? { role: props.role } : {})}
          {...(description ? {} : { "aria-describedby": undefined })}
          {...focus}
          onEscapeKeyDown={preventClose}
          onInteractOutside={(event) => {
            // Toasts are displayed above the dialog. A click on one must not close the dialog.
            const { target } = event.detail.originalEvent;
            if (isPersistent || (target instanceof Element && target.closest("[data-sonner-toaster]")))
              event.preventDefault();
          }}
          className={`fixed inset-x-0 bottom-0 z-50 flex max-h-[92dvh] flex-col overflow-hidden rounded-t-2xl border border-line bg-page shadow-xl outline-none md:inset-x-auto md:top-[10dvh] md:bottom-auto md:left-1/2 md:max-h-[80dvh] md:w-[calc(100%-4rem)] md:-translate-x-1/2 md:rounded-2xl motion-safe:data-[state=open]:animate-[rise-in_140ms_ease-out] ${WIDTHS[size]}`}
        >
          <div className="flex items-start gap-4 px-5 pt-5 md:px-6">
            <div className="min-w-0 grow">
              <Radix.Title className="break-words font-semibold text-base">
                <AddressText>{title}</AddressText>
              </Radix.Title>
              {description ? (
                <Radix.Description asChild>
                  <div className="mt-1 text-soft leading-6">{description}</div>
                </Radix.Description>
              ) : null}
            </div>
            {isPersistent ? null : (
              <Radix.Close className={`${iconButtonStyle} -mt-1.5 -mr-1.5`} aria-label="Close">
                <X className="size-4" />
              </Radix.Close>
            )}
          </div>
          <div className="flex min-h-0 scroll-pb-24 flex-col gap-5 overflow-y-auto px-5 pt-4 pb-5 has-[[data-actions]]:pb-0 md:px-6 md:pb-6 md:has-[[data-actions]]:pb-0">
            {children}
            {footer ? <DialogActions>{footer}</DialogActions> : null}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
