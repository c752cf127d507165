"use client";

import { Download, TriangleAlert } from "lucide-react";
import { DialogActions } from "../../../_ui/dialog/dialog";
import { useConfirmLeave } from "../../../_ui/dialog/secret-once";
import { Button } from "../../../_ui/form/button";
import { CopyButton } from "../../../_ui/text/copy-button";

const fileText = (codes: readonly string[]) =>
  `Backstamp recovery codes for ${window.location.host}\nEach code can be used once.\n\n${codes.join("\n")}\n`;

/** Recovery codes, shown once. The browser asks for confirmation if the user leaves the page. */
export function RecoveryCodes({ codes, onStored }: { codes: readonly string[]; onStored: () => void }) {
  useConfirmLeave();
  const save = () => {
    const url = URL.createObjectURL(new Blob([fileText(codes)], { type: "text/plain" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = "backstamp-recovery-codes.txt";
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="flex gap-2.5 rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
        <TriangleAlert className="mt-1 size-4 shrink-0" aria-hidden="true" />
        These codes are shown only once. If you lose your phone or passkey, each code replaces a sign-in code
        once.
      </p>
      <div className="relative rounded-lg border border-line bg-sunk p-4 pr-12">
        <ol aria-label="Recovery codes" className="grid gap-x-8 gap-y-1.5 sm:grid-cols-2">
          {codes.map((code) => (
            <li key={code} className="select-all font-mono text-xs leading-5">
              {code}
            </li>
          ))}
        </ol>
        <span className="absolute top-2 right-2">
          <CopyButton text={codes.join("\n")} label="Copy recovery codes" />
        </span>
      </div>
      <DialogActions>
        <Button onClick={save}>
          <Download className="size-4" aria-hidden="true" />
          Save as file
        </Button>
        <Button tone="primary" onClick={onStored}>
          I have stored them
        </Button>
      </DialogActions>
    </div>
  );
}
