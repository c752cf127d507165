"use client";

import type { ReactNode } from "react";
import type { Fault } from "../fault";
import { Button } from "../form/button";
import { FormFault } from "../form/form-fault";
import type { ActionState } from "../use-action";
import { Dialog } from "./dialog";

type Props = {
  open?: boolean;
  onOpenChange: (open: boolean) => void;
  /** The question: "Revoke the key Shop?". */
  title: string;
  /** What the button does, starting with a verb: "Revoke the key". */
  confirmLabel: string;
  /** Label of the dismiss button, for dialogs where "Cancel" would be ambiguous. */
  dismissLabel?: string;
  tone?: "bad" | "plain";
  /** The action that it starts: its button is disabled while the action is busy, and its error is shown. */
  action?: ActionState;
  isBusy?: boolean;
  /** Only its buttons close the dialog. */
  isPersistent?: boolean;
  fault?: Fault | null;
  onConfirm: () => void;
  /** What will happen, in full sentences. */
  children: ReactNode;
};

/**
 * Asks for confirmation. The focus is never on its main button at first: pressing Enter by accident changes
 * nothing.
 */
export function Confirm(props: Props) {
  const { onConfirm, confirmLabel, dismissLabel, tone = "bad", action, children, ...rest } = props;
  const { isBusy = action?.isBusy, fault = action?.fault, ...dialog } = rest;
  const footer = (
    <>
      <Button data-dismiss="" onClick={() => dialog.onOpenChange(false)}>
        {dismissLabel ?? "Cancel"}
      </Button>
      <Button tone={tone === "bad" ? "danger" : "primary"} disabled={isBusy} onClick={onConfirm}>
        {isBusy ? "Working…" : confirmLabel}
      </Button>
    </>
  );
  return (
    <Dialog {...dialog} role="alertdialog" footer={footer}>
      <div className="flex flex-col gap-3 text-soft leading-6">{children}</div>
      {fault ? <FormFault fault={fault} /> : null}
    </Dialog>
  );
}
