"use client";

import type { VersionRow } from "#server/trpc/template-views";
import { Badge } from "../../../_ui/badge";
import { cardStyle } from "../../../_ui/styles";
import { When } from "../../../_ui/when";

type Props = {
  rows: readonly VersionRow[];
  chosen: number | null;
  onChoose: (number: number) => void;
};

const STATES = {
  published: { tone: "good", label: "Published", title: "Sends use it" },
  draft: { tone: "info", label: "Draft", title: "The editor shows it; no send uses it yet" },
  archived: null,
} as const;

/** The versions of a template, newest first; one of them is looked at. */
export function VersionLines({ rows, chosen, onChoose }: Props) {
  return (
    <ul aria-label="Versions" className={`${cardStyle} divide-y divide-line overflow-hidden`}>
      {rows.map(({ id, number, subject, state, createdAt }) => {
        const badge = STATES[state];
        return (
          <li key={id}>
            <button
              type="button"
              data-row=""
              aria-pressed={number === chosen}
              onClick={() => onChoose(number)}
              className={`flex min-h-14 w-full items-center gap-3 px-4 py-2 text-left focus-visible:-outline-offset-2 ${number === chosen ? "bg-mute-tint" : "hover:bg-sunk"}`}
            >
              <span className="w-7 shrink-0 font-medium tabular-nums">{number}</span>
              <span className="min-w-0 grow">
                <span className="block truncate">{subject ?? "No subject"}</span>
                <span className="block text-soft text-xs">
                  begun <When at={createdAt} />
                </span>
              </span>
              {badge ? (
                <Badge tone={badge.tone} title={badge.title}>
                  {badge.label}
                </Badge>
              ) : null}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
