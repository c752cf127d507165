"use client";

import { type ReactNode, useState } from "react";
import { lazyDialog } from "../page/lazy-part";

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

const Frame = lazyDialog(async () => (await import("./dialog-frame")).DialogFrame);

/**
 * A question or a form above the page; on a phone a bottom sheet. It traps and restores the focus, and Escape
 * closes it. Its code loads when the first dialog opens, so load large content lazily too.
 */
export function Dialog({ open = true, ...props }: DialogProps) {
  const [wasOpen, setWasOpen] = useState(false);
  if (open && !wasOpen) setWasOpen(true);
  if (!open && !wasOpen) return null;
  return <Frame open={open} {...props} />;
}

/**
 * The last line of a form in a dialog: its buttons, the primary one last. It stays visible while the form
 * scrolls.
 */
export function DialogActions({ children }: { children: ReactNode }) {
  return (
    <div
      data-actions=""
      className="sticky bottom-0 z-10 -mx-5 flex flex-col-reverse gap-2 border-line border-t bg-page px-5 py-4 md:-mx-6 md:flex-row md:justify-end md:px-6"
    >
      {children}
    </div>
  );
}
