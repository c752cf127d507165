"use client";

import { Plus } from "lucide-react";
import { Suspense } from "react";
import { Button } from "../../_ui/form/button";
import { lazyPart } from "../../_ui/page/lazy-part";
import { Section } from "../../_ui/page/section";
import { useTeam } from "../../_ui/team";
import { useNew } from "../../_ui/use-new";

const NewTeam = lazyPart(async () => (await import("./new-team")).NewTeam);

/** Creates another team. Available to an owner or admin of any team. */
export function OtherTeamSection() {
  const { all } = useTeam();
  const [isOpen, setOpen] = useNew("team:read");
  const canCreate = all.some(({ role }) => role === "owner" || role === "admin");
  return (
    <Section
      title="Other teams"
      note="Teams are separate: each has its own domains, API keys, emails and members."
      actions={
        <Button
          isSmall
          disabled={!canCreate}
          title={canCreate ? undefined : "Only an owner or admin of a team can create another one."}
          onPointerEnter={NewTeam.preload}
          onClick={() => setOpen(true)}
        >
          <Plus className="size-4" aria-hidden="true" /> Create team
        </Button>
      }
    >
      <p className="px-5 pb-5 text-soft leading-6">
        {all.length === 1
          ? "You are a member of this team only."
          : `You are a member of ${all.length} teams:  ${all.map(({ teamName }) => teamName).join(", ")}.`}
      </p>
      <Suspense>{isOpen && canCreate ? <NewTeam onClose={() => setOpen(false)} /> : null}</Suspense>
    </Section>
  );
}
