"use client";

import { ChevronDown, TriangleAlert, X } from "lucide-react";
import { TextLink } from "../page/page-link";
import { iconButtonStyle } from "../styles";
import { MessageText } from "./address";

/** A page on which the user handles it, or sees what it affects. */
export type Step = { to: string; parameters?: Record<string, string>; label: string };

type Props = { text: string; step: Step; onDismiss: () => void };

/**
 * One notice on one line: its first sentence, cut off at the end of the line, the next step and a button to
 * dismiss it. The whole text unfolds.
 */
export function BannerLine({ text, step: { label, ...target }, onDismiss }: Props) {
  const end = text.indexOf(". ") + 1;
  const [headline, details] = end === 0 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
  return (
    <div
      role="status"
      className="flex items-start gap-2 bg-warn-tint px-4 py-1.5 text-warn md:gap-3 md:px-8 print:hidden"
    >
      <TriangleAlert className="mt-2 size-4 shrink-0 max-md:hidden" />
      <details className="group min-w-0 grow py-1">
        <summary className="flex cursor-pointer list-none items-start gap-1.5">
          <span className="min-w-0 break-words not-group-open:truncate">
            <MessageText>{headline}</MessageText>
          </span>
          <span className="shrink-0 underline underline-offset-4 max-md:sr-only">Details</span>
          <ChevronDown className="mt-1 size-4 shrink-0 group-open:rotate-180 md:hidden" />
        </summary>
        {details === "" ? null : (
          <p className="max-w-prose break-words pt-1">
            <MessageText>{details}</MessageText>
          </p>
        )}
      </details>
      <TextLink
        {...target}
        className="shrink-0 whitespace-nowrap rounded py-1 font-medium underline underline-offset-4"
      >
        {label}
      </TextLink>
      <button
        type="button"
        aria-label="Dismiss"
        className={`${iconButtonStyle} shrink-0`}
        onClick={onDismiss}
      >
        <X className="size-4" />
      </button>
    </div>
  );
}
