"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { iconButtonStyle } from "../styles";

const resultMs = 1_500;

/** Copies `text` and shows the result in the button for 1.5 seconds. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [result, setResult] = useState<"Copied" | "Not copied" | null>(null);
  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), resultMs);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async () => {
    setResult((await copyText(text)) ? "Copied" : "Not copied");
  };
  const Icon = result === "Copied" ? Check : Copy;
  return (
    <button type="button" onClick={copy} title={result ?? label} className={iconButtonStyle}>
      <Icon className={`size-4 ${result === "Copied" ? "text-good" : ""}`} />
      <span className="sr-only" aria-live="polite">
        {result ?? label}
      </span>
    </button>
  );
}

/**
 * Copies text to the clipboard and returns whether it succeeded. Browsers offer `navigator.clipboard` only in
 * secure contexts; over plain HTTP from another machine the text is copied by a selection instead.
 */
export async function copyText(text: string): Promise<boolean> {
  if (window.isSecureContext)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => copyBySelection(text),
    );
  return copyBySelection(text);
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.style.position = "fixed";
  area.style.opacity = "0";
  const before = document.activeElement;
  // An open dialog traps the focus, so the field must be inside it.
  (before?.closest("[role=dialog]") ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return isCopied;
}
