"use client";

import { type ReactNode, Suspense, useState } from "react";
import type { Fault } from "../fault";
import { FormFault } from "../form/form-fault";
import { lazyPart } from "../page/lazy-part";
import { buttonStyle } from "../styles";

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The question: "Revoke the key Shop?". */
  title: string;
  /** What the button does, starting with a verb: "Revoke the key". */
  confirmLabel: string;
  /** Label of the dismiss button, for dialogs where "Cancel" would be ambiguous. */
  dismissLabel?: string;
  tone?: "bad" | "plain";
  isBusy?: boolean;
  fault?: Fault | null;
  onConfirm: () => void;
  /** What will happen, in full sentences. */
  children: ReactNode;
};

const Frame = lazyPart(async () => (await import("./dialog-frame")).DialogFrame);

/** Asks for confirmation. The dismiss button has the initial focus: pressing Enter by accident changes nothing. */
export function Confirm(props: Props) {
  const {
    onConfirm,
    confirmLabel,
    dismissLabel = "Cancel",
    tone = "bad",
    isBusy,
    fault,
    children,
    ...frame
  } = props;
  const [wasOpen, setWasOpen] = useState(false);
  if (frame.open && !wasOpen) setWasOpen(true);
  if (!frame.open && !wasOpen) return null;
  const footer = (
    <>
      <button
        type="button"
        data-dismiss=""
        onClick={() => frame.onOpenChange(false)}
        className={`${buttonStyle.plain} h-10`}
      >
        {dismissLabel}
      </button>
      <button
        type="button"
        disabled={isBusy}
        onClick={onConfirm}
        className={`${buttonStyle[tone === "bad" ? "danger" : "primary"]} h-10`}
      >
        {isBusy ? "Working…" : confirmLabel}
      </button>
    </>
  );
  return (
    <Suspense>
      <Frame {...frame} role="alertdialog" footer={footer} onOpenAutoFocus={focusDismiss}>
        <div className="flex flex-col gap-3 text-soft leading-6">{children}</div>
        {fault ? <FormFault fault={fault} /> : null}
      </Frame>
    </Suspense>
  );
}

function focusDismiss(event: Event): void {
  const button =
    event.currentTarget instanceof Element ? event.currentTarget.querySelector("[data-dismiss]") : null;
  if (!(button instanceof HTMLElement)) return;
  event.preventDefault();
  button.focus();
}
