"use client";

import { type ReactNode, Suspense, useState } from "react";
import type { Fault } from "./fault";
import { FormFault } from "./form-fault";
import { lazyPart } from "./lazy-part";
import { buttonStyle } from "./styles";

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The question: "Revoke the key Shop?". */
  title: string;
  /** What the button does, by its verb: "Revoke the key". */
  confirmLabel: string;
  /** What the way out says, where "Cancel" would be what is asked about. */
  wayOutLabel?: string;
  tone?: "bad" | "plain";
  isBusy?: boolean;
  fault?: Fault | null;
  onConfirm: () => void;
  /** What will happen, in full sentences. */
  children: ReactNode;
};

const Frame = lazyPart(async () => (await import("./dialog-frame")).DialogFrame);

/** Asks once before what costs something. The focus is on the way out, so that Enter alone does no harm. */
export function Confirm(props: Props) {
  const {
    onConfirm,
    confirmLabel,
    wayOutLabel = "Cancel",
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
        data-way-out=""
        onClick={() => frame.onOpenChange(false)}
        className={`${buttonStyle.plain} h-10`}
      >
        {wayOutLabel}
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
      <Frame {...frame} role="alertdialog" footer={footer} onOpenAutoFocus={focusWayOut}>
        <div className="flex flex-col gap-3 text-soft leading-6">{children}</div>
        {fault ? <FormFault fault={fault} /> : null}
      </Frame>
    </Suspense>
  );
}

function focusWayOut(event: Event): void {
  const way =
    event.currentTarget instanceof Element ? event.currentTarget.querySelector("[data-way-out]") : null;
  if (!(way instanceof HTMLElement)) return;
  event.preventDefault();
  way.focus();
}
