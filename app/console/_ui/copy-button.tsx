"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { copyText } from "./copy-text";
import { iconButtonStyle } from "./styles";

const saidMs = 1_500;

/** Copies `text`, and says so where it stands. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [said, setSaid] = useState<"Copied" | "Not copied" | null>(null);
  useEffect(() => {
    if (said === null) return;
    const timer = setTimeout(() => setSaid(null), saidMs);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async () => {
    setSaid((await copyText(text)) ? "Copied" : "Not copied");
  };
  const Icon = said === "Copied" ? Check : Copy;
  return (
    <button type="button" onClick={copy} title={said ?? label} className={iconButtonStyle}>
      <Icon className={`size-4 ${said === "Copied" ? "text-good" : ""}`} aria-hidden="true" />
      <span className="sr-only" aria-live="polite">
        {said ?? label}
      </span>
    </button>
  );
}
