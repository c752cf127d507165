"use client";

import type { ReactNode } from "react";
import { Dialog } from "../../_ui/dialog";
import type { Fault } from "../../_ui/fault";
import { ProofForm, type ProofKind } from "./proof-form";

type Props = {
  open: boolean;
  onClose: () => void;
  title: string;
  kind: ProofKind;
  confirmLabel: string;
  isBusy: boolean;
  fault: Fault | null;
  onProve: (proof: string) => void;
  /** What will happen, in full sentences. */
  children: ReactNode;
};

/** Asks once, and for a proof, before a lock is taken off. */
export function ProofDialog({ open, onClose, title, children, ...form }: Props) {
  return (
    <Dialog open={open} onOpenChange={(isOpen) => !isOpen && onClose()} title={title}>
      <ProofForm {...form} tone="danger" onCancel={onClose}>
        <div className="flex flex-col gap-3 text-soft leading-6">{children}</div>
      </ProofForm>
    </Dialog>
  );
}
