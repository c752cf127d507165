"use client";

import { Plus } from "lucide-react";
import { Suspense, useState } from "react";
import { lazyPart } from "../../_ui/lazy-part";
import { Section } from "../../_ui/section";
import { buttonStyle } from "../../_ui/styles";
import { useTeam } from "../../_ui/team";
import { useNew } from "../../_ui/use-new";

const load = () => import("./new-team");
const NewTeam = lazyPart(async () => (await load()).NewTeam);

/** The way to another team, for whoever runs one already. */
export function OtherTeamSection() {
  const { all } = useTeam();
  const [isOpen, setOpen] = useNew("team:read");
  const [wasOpen, setWasOpen] = useState(isOpen);
  const mayFound = all.some(({ role }) => role === "owner" || role === "admin");
  const open = () => {
    setWasOpen(true);
    setOpen(true);
  };
  return (
    <Section
      title="Another team"
      note="Teams share nothing: each has its own domains, keys, mails and members."
      actions={
        <button
          type="button"
          disabled={!mayFound}
          title={mayFound ? undefined : "A team is made by whoever is owner or admin of one already."}
          onPointerEnter={() => void load().catch(() => {})}
          onClick={open}
          className={`${buttonStyle.plain} h-9`}
        >
          <Plus className="size-4" aria-hidden="true" /> Create team
        </button>
      }
    >
      <p className="px-5 pb-5 text-soft leading-6">
        {all.length === 1
          ? "You are in this team alone."
          : `You are in ${all.length} teams: ${all.map(({ teamName }) => teamName).join(", ")}.`}
      </p>
      {wasOpen || isOpen ? (
        <Suspense>
          <NewTeam open={isOpen && mayFound} onOpenChange={setOpen} />
        </Suspense>
      ) : null}
    </Section>
  );
}
