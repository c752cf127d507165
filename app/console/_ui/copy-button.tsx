"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { buttonStyle } from "./styles";

const saidMs = 1_500;

/** Copies `text`, and says so where it stands. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), saidMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => {},
    );
  };
  const Icon = isCopied ? Check : Copy;
  return (
    <button
      type="button"
      onClick={copy}
      title={label}
      className={`${buttonStyle.quiet} size-8 shrink-0 px-0`}
    >
      <Icon className="size-4" aria-hidden="true" />
      <span className="sr-only" aria-live="polite">
        {isCopied ? "Copied" : label}
      </span>
    </button>
  );
}
