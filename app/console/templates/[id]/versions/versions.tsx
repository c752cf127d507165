"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { VersionRow } from "#server/trpc/templates/templates";
import { faultOf } from "../../../_ui/fault";
import { Button } from "../../../_ui/form/button";
import { Select } from "../../../_ui/form/select";
import { Pager } from "../../../_ui/list/pager";
import { SkeletonCard } from "../../../_ui/list/skeleton";
import { useSearch } from "../../../_ui/list/use-search";
import { Fetched } from "../../../_ui/page/fetched";
import { useDisabledReason } from "../../../_ui/page/permission";
import { cardStyle } from "../../../_ui/styles";
import { type Label, LabelBadge } from "../../../_ui/text/badge";
import { FaultNote } from "../../../_ui/text/notes";
import { When } from "../../../_ui/text/when";
import { useTRPC } from "../../../_ui/trpc";
import { Content, Diff } from "../code/diff";
import { fieldsOf } from "../fields";
import { versionFilters, versionsInput } from "./filters";
import { VersionsHeading } from "./loading";
import { RollBack } from "./roll-back";

/** The list of versions beside the changes or the content of the selected one. */
export function Versions({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useSearch(versionFilters);
  const [isConfirming, setConfirming] = useState(false);
  const why = useDisabledReason()("templates:write", "publish templates");
  const template = useQuery(trpc.templates.get.queryOptions({ team: teamId, id }));
  const page = useQuery(
    trpc.templates.versions.queryOptions(versionsInput(teamId, id, filters), {
      placeholderData: keepPreviousData,
    }),
  );
  const rows = page.data?.rows ?? [];
  const live = template.data?.publishedNumber ?? null;
  const selected = filters.version ?? rows[0]?.number ?? null;
  // By default a draft is compared with the published version, and the published version with the previous
  // one. With 0 there is no comparison, and the content of the selected one is shown.
  const defaultAgainst = live !== null && live !== selected ? live : Math.max((selected ?? 0) - 1, 0);
  const against = filters.against ?? defaultAgainst;
  const of = (number: number | null) =>
    trpc.templates.version.queryOptions(
      { team: teamId, id, version: String(number) },
      { enabled: Boolean(number) },
    );
  // The older version is on the removed side, whichever of the two is selected.
  const [older, newer] = against > (selected ?? 0) ? [selected, against] : [against, selected];
  const after = useQuery(of(newer));
  const before = useQuery(of(older));

  if (!template.data)
    return (
      <Fetched by={template}>
        <SkeletonCard lines={8} />
      </Fetched>
    );
  const fault = page.error ?? after.error ?? before.error;
  return (
    <>
      <VersionsHeading id={id} name={template.data.name} />
      <div className="grid grid-cols-1 items-start gap-5 xl:grid-cols-[22rem_minmax(0,1fr)]">
        <div>
          <VersionLines
            rows={rows}
            selected={selected}
            onSelect={(version) => setFilters({ version, against: null }, { history: "push" })}
          />
          {page.data ? (
            <Pager page={page.data} at={filters} onMove={(to) => setFilters(to, { history: "push" })} />
          ) : null}
        </div>
        <section aria-label={against === 0 ? "Content" : "Changes"} className={`${cardStyle} min-w-0 p-4`}>
          <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
            <div className="flex flex-wrap items-center gap-2">
              <h2 className="font-semibold">
                {against === 0 ? `Version ${selected}` : `From version ${older} to version ${newer}`}
              </h2>
              <label htmlFor="against" className="flex flex-wrap items-center gap-2 text-soft">
                {against === 0 ? "compared with" : `Version ${selected} compared with`}
                <Select
                  id="against"
                  value={against}
                  onChange={({ target }) => setFilters({ against: Number(target.value) })}
                >
                  <option value={0}>no version</option>
                  {numbersOf(rows, against).map((number) => (
                    <option key={number} value={number}>
                      version {number}
                      {number === live ? " (published)" : ""}
                    </option>
                  ))}
                </Select>
              </label>
            </div>
            {selected !== null && selected !== live ? (
              <Button tone="primary" disabledReason={why} onClick={() => setConfirming(true)}>
                {live !== null && selected < live
                  ? `Roll back to version ${selected}…`
                  : `Publish version ${selected}…`}
              </Button>
            ) : null}
          </div>
          {fault ? (
            <FaultNote
              fault={faultOf(fault)}
              onRetry={() => void after.refetch().then(() => before.refetch())}
            />
          ) : !after.data || (against > 0 && !before.data) ? (
            <SkeletonCard lines={6} />
          ) : before.data ? (
            <Diff
              key={`${against}-${selected}`}
              before={fieldsOf(before.data)}
              after={fieldsOf(after.data)}
            />
          ) : (
            <Content fields={fieldsOf(after.data)} />
          )}
        </section>
      </div>
      {selected !== null && isConfirming ? (
        <RollBack
          teamId={teamId}
          template={template.data}
          version={selected}
          onClose={() => setConfirming(false)}
        />
      ) : null}
    </>
  );
}

/**
 * The versions to compare with: those of the current page, and the selected one even if it is on another
 * page.
 */
const numbersOf = (rows: readonly { number: number }[], against: number): number[] =>
  [...new Set([...rows.map(({ number }) => number), against])].filter(Boolean).sort((a, b) => b - a);

type LinesProps = {
  rows: readonly VersionRow[];
  selected: number | null;
  onSelect: (number: number) => void;
};

const STATES: Record<VersionRow["status"], Label | null> = {
  published: { tone: "good", label: "Published", description: "New emails use this version" },
  draft: { tone: "info", label: "Draft", description: "The editor shows this version. It is not published." },
  archived: null,
};

/** Who published a version. */
const publisherOf = ({ actor, name }: NonNullable<VersionRow["publication"]>): string =>
  actor === "key" ? (name ? `the key “${name}”` : "a key without a name") : (name ?? `the ${actor}`);

/** The versions of a template, newest first. One of them is selected. */
function VersionLines({ rows, selected, onSelect }: LinesProps) {
  return (
    <ul aria-label="Versions" className={`${cardStyle} divide-y divide-line overflow-hidden`}>
      {rows.map(({ id, number, subject, status, created_at, publication }) => {
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
                <span className="block break-words text-soft text-xs">
                  {publication ? (
                    <>
                      published <When at={publication.at} /> by {publisherOf(publication)}
                    </>
                  ) : (
                    <>
                      created <When at={created_at} />
                    </>
                  )}
                </span>
              </span>
              {badge ? <LabelBadge {...badge} /> : null}
            </button>
          </li>
        );
      })}
    </ul>
  );
}
