"use client";

import { type ReactNode, Suspense, useState } from "react";
import { lazyPart } from "./lazy-part";

export type DialogProps = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: ReactNode;
  /** Buttons, the one that matters last. A form puts its own into `DialogActions` instead. */
  footer?: ReactNode;
  size?: "normal" | "wide";
  /** Stays until its own buttons close it: what it shows would be lost by a slip of the hand. */
  isKept?: boolean;
  children?: ReactNode;
};

const Frame = lazyPart(async () => (await import("./dialog-frame")).DialogFrame);

/**
 * A question or a form above the page; a sheet from below on a phone. It takes the focus and gives it back, and Escape
 * closes it. Its code comes when the first one is opened, so what stands in it is best made lazily too.
 */
export function Dialog(props: DialogProps) {
  const [wasOpen, setWasOpen] = useState(false);
  if (props.open && !wasOpen) setWasOpen(true);
  if (!props.open && !wasOpen) return null;
  return (
    <Suspense>
      <Frame {...props} />
    </Suspense>
  );
}

/** The last line of a form in a dialog: its buttons, the one that matters last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-2 flex flex-col-reverse gap-2 md:flex-row md:justify-end">{children}</div>;
}
