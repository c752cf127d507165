"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useQueryStates } from "nuqs";
import { useState } from "react";
import { ActButton } from "../../../_ui/act-button";
import { faultOf } from "../../../_ui/fault";
import { useWhyNot } from "../../../_ui/no-right";
import { FaultNote } from "../../../_ui/notes";
import { Pager } from "../../../_ui/pager";
import { Select } from "../../../_ui/select";
import { SkeletonCard } from "../../../_ui/skeleton";
import { buttonStyle, cardStyle } from "../../../_ui/styles";
import { useTRPC } from "../../../_ui/trpc";
import { Diff } from "../diff";
import { fieldsOf } from "../fields";
import { versionFilters, versionsInput } from "./filters";
import { VersionsHeading } from "./heading";
import { RollBack } from "./roll-back";
import { VersionLines } from "./version-lines";

/** The versions beside what the chosen one changed. */
export function Versions({ teamId, id }: { teamId: string; id: string }) {
  const trpc = useTRPC();
  const [filters, setFilters] = useQueryStates(versionFilters);
  const [isAsked, setAsked] = useState(false);
  const why = useWhyNot()("templates:write", "publish templates");
  const template = useQuery(trpc.templates.get.queryOptions({ team: teamId, id }));
  const page = useQuery(
    trpc.templates.versions.queryOptions(versionsInput(teamId, id, filters), {
      placeholderData: keepPreviousData,
    }),
  );
  const rows = page.data?.rows ?? [];
  const live = template.data?.publishedNumber ?? null;
  const chosen = filters.version ?? rows[0]?.number ?? null;
  // By itself a draft is compared with what sends use, and what sends use with the one before it.
  const usual = live !== null && live !== chosen ? live : chosen === null ? null : chosen - 1;
  const against = filters.against ?? (usual || null);
  const of = (number: number | null) =>
    trpc.templates.version.queryOptions(
      { team: teamId, id, version: String(number) },
      { enabled: number !== null },
    );
  const after = useQuery(of(chosen));
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
            chosen={chosen}
            onChoose={(version) => void setFilters({ version, against: null }, { history: "push" })}
          />
          {page.data ? (
            <Pager page={page.data} at={filters} onMove={(to) => void setFilters(to, { history: "push" })} />
          ) : null}
        </div>
        <section aria-label="Changes" className={`${cardStyle} min-w-0 p-4`}>
          <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
            <div className="flex flex-wrap items-center gap-2">
              <h2 className="font-semibold">Version {chosen}</h2>
              <label htmlFor="against" className="flex items-center gap-2 whitespace-nowrap text-soft">
                compared with
                <Select
                  id="against"
                  value={against ?? ""}
                  onChange={({ target }) => void setFilters({ against: Number(target.value) || null })}
                >
                  {against === null ? <option value="">nothing</option> : null}
                  {numbersOf(rows, against).map((number) => (
                    <option key={number} value={number}>
                      version {number}
                      {number === live ? " (published)" : ""}
                    </option>
                  ))}
                </Select>
              </label>
            </div>
            {chosen !== null && chosen !== live ? (
              <ActButton
                whyNot={why}
                onClick={() => setAsked(true)}
                className={`${buttonStyle.primary} h-10`}
              >
                {live !== null && chosen < live ? `Roll back to ${chosen}…` : `Publish ${chosen}…`}
              </ActButton>
            ) : null}
          </div>
          {fault ? (
            <FaultNote
              fault={faultOf(fault)}
              onRetry={() => void after.refetch().then(() => before.refetch())}
            />
          ) : against === null ? (
            <p className="px-4 py-10 text-center text-soft">
              This is the first version: there is none before it.
            </p>
          ) : after.data && before.data ? (
            <Diff key={`${against}-${chosen}`} before={fieldsOf(before.data)} after={fieldsOf(after.data)} />
          ) : (
            <SkeletonCard lines={6} />
          )}
        </section>
      </div>
      {chosen === null ? null : (
        <RollBack
          teamId={teamId}
          template={template.data}
          version={chosen}
          open={isAsked}
          onOpenChange={setAsked}
        />
      )}
    </>
  );
}

/** What can be compared with: the page's versions, and the one that is compared with though it stands on another page. */
const numbersOf = (rows: readonly { number: number }[], against: number | null): number[] =>
  [...new Set([...rows.map(({ number }) => number), ...(against === null ? [] : [against])])].sort(
    (a, b) => b - a,
  );
