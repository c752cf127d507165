"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useQueryStates } from "nuqs";
import { useState } from "react";
import { faultOf } from "../../../_ui/fault";
import { ActionButton } from "../../../_ui/form/action-button";
import { Select } from "../../../_ui/form/select";
import { Pager } from "../../../_ui/list/pager";
import { SkeletonCard } from "../../../_ui/list/skeleton";
import { useDisabledReason } from "../../../_ui/page/permission";
import { buttonStyle, cardStyle } from "../../../_ui/styles";
import { FaultNote } from "../../../_ui/text/notes";
import { useTRPC } from "../../../_ui/trpc";
import { Diff } from "../diff";
import { fieldsOf } from "../fields";
import { versionFilters, versionsInput } from "./filters";
import { VersionsHeading } from "./heading";
import { RollBack } from "./roll-back";
import { VersionLines } from "./version-lines";

/** The list of versions beside the changes of the selected one. */
export function Versions({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(versionFilters);
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
  // By default a draft is compared with the published version, and the published version with the previous one.
  const defaultAgainst = live !== null && live !== selected ? live : selected === null ? null : selected - 1;
  const against = filters.against ?? (defaultAgainst || null);
  const of = (number: number | null) =>
    trpc.templates.version.queryOptions(
      { team: teamId, id, version: String(number) },
      { enabled: number !== null },
    );
  const after = useQuery(of(selected));
  const before = useQuery(of(against));

  if (!template.data) {
    if (!template.error) return <SkeletonCard lines={8} />;
    return <FaultNote fault={faultOf(template.error)} onRetry={() => void template.refetch()} />;
  }
  const fault = page.error ?? after.error ?? before.error;
  return (
    <>
      <VersionsHeading id={id} name={template.data.name} />
      <div className="grid items-start gap-5 xl:grid-cols-[22rem_minmax(0,1fr)]">
        <div>
          <VersionLines
            rows={rows}
            selected={selected}
            onSelect={(version) => void setFilters({ version, against: null }, { history: "push" })}
          />
          {page.data ? (
            <Pager page={page.data} at={filters} onMove={(to) => void setFilters(to, { history: "push" })} />
          ) : null}
        </div>
        <section aria-label="Changes" className={`${cardStyle} min-w-0 p-4`}>
          <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
            <div className="flex flex-wrap items-center gap-2">
              <h2 className="font-semibold">Version {selected}</h2>
              <label htmlFor="against" className="flex items-center gap-2 whitespace-nowrap text-soft">
                compared with
                <Select
                  id="against"
                  value={against ?? ""}
                  onChange={({ target }) => void setFilters({ against: Number(target.value) || null })}
                >
                  {against === null ? <option value="">none</option> : null}
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
              <ActionButton
                disabledReason={why}
                onClick={() => setConfirming(true)}
                className={`${buttonStyle.primary} h-10`}
              >
                {live !== null && selected < live ? `Roll back to ${selected}…` : `Publish ${selected}…`}
              </ActionButton>
            ) : null}
          </div>
          {fault ? (
            <FaultNote
              fault={faultOf(fault)}
              onRetry={() => void after.refetch().then(() => before.refetch())}
            />
          ) : against === null ? (
            <p className="px-4 py-10 text-center text-soft">This is the first version.</p>
          ) : after.data && before.data ? (
            <Diff
              key={`${against}-${selected}`}
              before={fieldsOf(before.data)}
              after={fieldsOf(after.data)}
            />
          ) : (
            <SkeletonCard lines={6} />
          )}
        </section>
      </div>
      {selected === null ? null : (
        <RollBack
          teamId={teamId}
          template={template.data}
          version={selected}
          open={isConfirming}
          onOpenChange={setConfirming}
        />
      )}
    </>
  );
}

/** The versions to compare with: those of the current page, and the selected one even if it is on another page. */
const numbersOf = (rows: readonly { number: number }[], against: number | null): number[] =>
  [...new Set([...rows.map(({ number }) => number), ...(against === null ? [] : [against])])].sort(
    (a, b) => b - a,
  );
