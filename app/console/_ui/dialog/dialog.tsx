"use client";

import { useState } from "react";
import { lazyDialog } from "../page/lazy-part";
import type { DialogProps } from "./dialog-frame";

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
