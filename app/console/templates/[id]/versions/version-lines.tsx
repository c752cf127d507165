"use client";

import type { z } from "zod";
import type { VersionSummaryResponse } from "#server/shared/wire/template";
import { cardStyle } from "../../../_ui/styles";
import { Badge } from "../../../_ui/text/badge";
import { When } from "../../../_ui/text/when";

type VersionRow = z.infer<typeof VersionSummaryResponse>;
type Props = {
  rows: readonly VersionRow[];
  selected: number | null;
  onSelect: (number: number) => void;
};

const STATES = {
  published: { tone: "good", label: "Published", title: "New emails use this version" },
  draft: { tone: "info", label: "Draft", title: "The editor shows this version. It is not published." },
  archived: null,
} as const;

/** The versions of a template, newest first. One of them is selected. */
export function VersionLines({ rows, selected, onSelect }: Props) {
  return (
    <ul aria-label="Versions" className={`${cardStyle} divide-y divide-line overflow-hidden`}>
      {rows.map(({ id, number, subject, status, created_at }) => {
        const badge = STATES[status];
        return (
          <li key={id}>
            <button
              type="button"
              data-row=""
              aria-pressed={number === selected}
              onClick={() => onSelect(number)}
              className={`flex min-h-14 w-full items-center gap-3 px-4 py-2 text-left focus-visible:-outline-offset-2 ${number === selected ? "bg-mute-tint" : "hover:bg-sunk"}`}
            >
              <span className="w-7 shrink-0 font-medium tabular-nums">{number}</span>
              <span className="min-w-0 grow">
                <span className="block truncate">{subject ?? "No subject"}</span>
                <span className="block text-soft text-xs">
                  created <When at={created_at} />
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
