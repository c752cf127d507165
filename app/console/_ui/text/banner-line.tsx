"use client";

import { TriangleAlert, X } from "lucide-react";
import Link from "next/link";
import { iconButtonStyle } from "../styles";
import { useConsoleHref, useIsOperator } from "../team";

type Props = {
  text: string;
  /** The page where an operator handles it. */
  step: { path: string; label: string };
  onDismiss: () => void;
};

/**
 * One notice: its first sentence, the rest on request, the next step for an operator, and a button to dismiss
 * it.
 */
export function BannerLine({ text, step, onDismiss }: Props) {
  const hrefOf = useConsoleHref();
  const isOperator = useIsOperator();
  const end = text.indexOf(". ") + 1;
  const [headline, details] = end === 0 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
  return (
    <div
      role="status"
      className="flex items-start gap-3 bg-warn-tint px-4 py-1.5 text-warn md:px-8 print:hidden"
    >
      <TriangleAlert className="mt-1.5 size-4 shrink-0" aria-hidden="true" />
      {details === "" ? (
        <p className="min-w-0 grow py-1">{headline}</p>
      ) : (
        <details className="min-w-0 grow py-1">
          <summary className="cursor-pointer list-none">
            {headline} <span className="whitespace-nowrap underline underline-offset-4">Details</span>
          </summary>
          <p className="max-w-prose pt-1">{details}</p>
        </details>
      )}
      {isOperator ? (
        <Link
          href={hrefOf(step.path)}
          prefetch={false}
          className="shrink-0 whitespace-nowrap rounded py-1 font-medium underline underline-offset-4"
        >
          {step.label}
        </Link>
      ) : null}
      <button
        type="button"
        aria-label="Dismiss"
        className={`${iconButtonStyle} shrink-0`}
        onClick={onDismiss}
      >
        <X className="size-4" aria-hidden="true" />
      </button>
    </div>
  );
}
