"use client";

import type { ReactNode } from "react";
import { Dialog } from "../../_ui/dialog/dialog";
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
  /** The consequences, in full sentences. */
  children: ReactNode;
};

/** Confirms the removal of a sign-in protection, and requires a password or code. */
export function ProofDialog({ open, onClose, title, children, ...form }: Props) {
  return (
    <Dialog open={open} onOpenChange={(isOpen) => !isOpen && onClose()} title={title}>
      <ProofForm {...form} tone="danger" onCancel={onClose}>
        <div className="flex flex-col gap-3 text-soft leading-6">{children}</div>
      </ProofForm>
    </Dialog>
  );
}
