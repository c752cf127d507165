"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { iconButtonStyle } from "../styles";
import { copyText } from "./copy-text";

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
      <Icon className={`size-4 ${result === "Copied" ? "text-good" : ""}`} aria-hidden="true" />
      <span className="sr-only" aria-live="polite">
        {result ?? label}
      </span>
    </button>
  );
}
