"use client";

import { useQuery } from "@tanstack/react-query";
import type { DeletionView } from "#server/services/team-deletions/request";
import { Section } from "../../_ui/page/card";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";

/** The deletions of teams: requested, canceled and completed ones, with how much was deleted. */
export function DeletionList() {
  const trpc = useTRPC();
  const { data = [] } = useQuery(trpc.installation.deletions.queryOptions());
  if (data.length === 0) return null;
  return (
    <div className="mt-6">
      <Section
        title="Deleted teams"
        note="A request can be canceled until the deletion starts: by an owner of the team, or in the list above"
      >
        <ul className="flex flex-col divide-y divide-line px-5 pb-3">
          {data.map((deletion) => (
            <li key={deletion.id} className="flex flex-col gap-1 py-3 leading-6">
              <span className="font-medium">{deletion.team_name}</span>
              <span className="text-soft">
                Requested by {deletion.requested_by} <When at={deletion.requested_at} />.{" "}
                <Outcome deletion={deletion} />
              </span>
            </li>
          ))}
        </ul>
      </Section>
    </div>
  );
}

function Outcome({
  deletion: { status, deletes_at, ended_at, canceled_by, counts, fault },
}: {
  deletion: DeletionView;
}) {
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (status === "canceled") return <>Canceled by {canceled_by}.</>;
  if (status === "deleted" && ended_at)
    return (
      <>
        Deleted <When at={ended_at} />, with {rows.toLocaleString("en")} rows.
      </>
    );
  if (status === "deleting")
    return (
      <>Deletion in progress.{fault === null ? null : ` The last step failed and is repeated: ${fault}`}</>
    );
  return (
    <>
      Will be deleted <When isDue at={deletes_at} />.
    </>
  );
}
