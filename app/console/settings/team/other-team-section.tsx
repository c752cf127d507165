"use client";

import { Plus } from "lucide-react";
import { Suspense, useState } from "react";
import { lazyPart } from "../../_ui/page/lazy-part";
import { Section } from "../../_ui/page/section";
import { buttonStyle } from "../../_ui/styles";
import { useTeam } from "../../_ui/team";
import { useNew } from "../../_ui/use-new";

const load = () => import("./new-team");
const NewTeam = lazyPart(async () => (await load()).NewTeam);

/** Creates another team. Available to an owner or admin of any team. */
export function OtherTeamSection() {
  const { all } = useTeam();
  const [isOpen, setOpen] = useNew("team:read");
  const [wasOpen, setWasOpen] = useState(isOpen);
  const canCreate = all.some(({ role }) => role === "owner" || role === "admin");
  const open = () => {
    setWasOpen(true);
    setOpen(true);
  };
  return (
    <Section
      title="Other teams"
      note="Teams are separate: each has its own domains, API keys, emails and members."
      actions={
        <button
          type="button"
          disabled={!canCreate}
          title={canCreate ? undefined : "Only an owner or admin of a team can create another one."}
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
          ? "You are a member of this team only."
          : `You are a member of ${all.length} teams:  ${all.map(({ teamName }) => teamName).join(", ")}.`}
      </p>
      {wasOpen || isOpen ? (
        <Suspense>
          <NewTeam open={isOpen && canCreate} onOpenChange={setOpen} />
        </Suspense>
      ) : null}
    </Section>
  );
}
