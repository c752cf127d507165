"use client";

import { KeyRound } from "lucide-react";
import { useEffect } from "react";
import { buttonStyle } from "../styles";
import { CopyButton } from "../text/copy-button";

type Props = {
  secret: string;
  /** What the secret is: "API key". */
  label: string;
  onStored: () => void;
};

/** A secret that is shown only once. The browser asks for confirmation before the page is closed or reloaded. */
export function SecretOnce({ secret, label, onStored }: Props) {
  useEffect(() => {
    const confirmLeave = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", confirmLeave);
    return () => window.removeEventListener("beforeunload", confirmLeave);
  }, []);
  return (
    <div className="flex flex-col gap-4">
      <p className="flex gap-2.5 rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
        <KeyRound className="mt-1 size-4 shrink-0" aria-hidden="true" />
        This secret is shown only once. Copy it now and store it where your application reads its secrets.
      </p>
      <figure className="overflow-hidden rounded-lg border border-line bg-sunk">
        <figcaption className="sr-only">{label}</figcaption>
        <div className="flex items-center gap-2 py-2 pr-2 pl-3.5">
          <code className="min-w-0 grow select-all break-all font-mono text-xs leading-5">{secret}</code>
          <CopyButton text={secret} label={`Copy: ${label}`} />
        </div>
      </figure>
      <div className="flex justify-end max-md:*:w-full">
        <button type="button" onClick={onStored} className={`${buttonStyle.primary} h-10`}>
          I have stored it
        </button>
      </div>
    </div>
  );
}
