"use client";

import { KeyRound } from "lucide-react";
import { useEffect } from "react";
import { Button } from "../form/button";
import { CopyButton } from "../text/copy-button";
import { Note } from "../text/notes";
import { DialogActions } from "./dialog-actions";

type Props = {
  secret: string;
  /** What the secret is: "API key". */
  label: string;
  onStored: () => void;
};

/**
 * A secret that is shown only once. The browser asks for confirmation before the page is closed or reloaded.
 */
export function SecretOnce({ secret, label, onStored }: Props) {
  useConfirmLeave();
  return (
    <div className="flex flex-col gap-4">
      <Note Icon={KeyRound}>
        This secret is shown only once. Copy it now and store it where your application reads its secrets.
      </Note>
      <SecretText text={secret} label={label} />
      <DialogActions>
        <Button tone="primary" onClick={onStored}>
          I have stored it
        </Button>
      </DialogActions>
    </div>
  );
}

/** A secret in one box, with a copy button. */
export const SecretText = ({ text, label }: { text: string; label: string }) => (
  <figure className="overflow-hidden rounded-lg border border-line bg-sunk">
    <figcaption className="sr-only">{label}</figcaption>
    <div className="flex items-center gap-2 py-2 pr-2 pl-3.5">
      <code className="min-w-0 grow select-all break-all font-mono text-xs leading-5">{text}</code>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  </figure>
);

/** Makes the browser ask for confirmation before the page is closed or reloaded. */
export function useConfirmLeave(): void {
  useEffect(() => {
    const confirmLeave = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", confirmLeave);
    return () => window.removeEventListener("beforeunload", confirmLeave);
  }, []);
}
