"use client";

import { Download, TriangleAlert } from "lucide-react";
import { useEffect } from "react";
import { CopyButton } from "../../_ui/copy-button";
import { DialogActions } from "../../_ui/dialog";
import { buttonStyle } from "../../_ui/styles";

const fileText = (codes: readonly string[]) =>
  `Recovery codes of Posthorn at ${window.location.host}\nEach opens once.\n\n${codes.join("\n")}\n`;

/** Codes that are never shown again. Whoever is about to leave without having kept them is asked by the browser. */
export function RecoveryCodes({ codes, onStored }: { codes: readonly string[]; onStored: () => void }) {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, []);
  const save = () => {
    const address = URL.createObjectURL(new Blob([fileText(codes)], { type: "text/plain" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = "posthorn-recovery-codes.txt";
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <div className="flex flex-col gap-4">
      <p className="flex gap-2.5 rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
        <TriangleAlert className="mt-1 size-4 shrink-0" aria-hidden="true" />
        They are shown this one time. Each opens your account once, in place of a code, should you lose your
        phone or your passkey.
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
          <CopyButton text={codes.join("\n")} label="Copy the recovery codes" />
        </span>
      </div>
      <DialogActions>
        <button type="button" onClick={save} className={`${buttonStyle.plain} h-10`}>
          <Download className="size-4" aria-hidden="true" />
          Save as a file
        </button>
        <button type="button" onClick={onStored} className={`${buttonStyle.primary} h-10`}>
          I have stored them
        </button>
      </DialogActions>
    </div>
  );
}
