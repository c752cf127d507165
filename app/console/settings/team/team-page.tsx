"use client";

import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { ActionForm } from "../../_ui/form/action-form";
import { Button } from "../../_ui/form/button";
import { CopiesSection } from "../../_ui/form/copies-form";
import { RadioCards, TextField } from "../../_ui/form/form";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Section } from "../../_ui/page/card";
import { Fetched } from "../../_ui/page/fetched";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { useTeam } from "../../_ui/team";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { useNew } from "../../_ui/use-new";
import { DeletionSection } from "./deletion-section";
import { RetentionSection } from "./retention-section";
import { findNameFault } from "./team-name";

const NewTeam = lazyDialog(async () => (await import("./new-team")).NewTeam);

/** The settings of a team. */
export function TeamPage({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const settings = useQuery(trpc.team.settings.queryOptions({ team: teamId }));
  return (
    <Fetched by={settings} loading={<SkeletonCard lines={5} />}>
      {(team) => (
        <div className="flex flex-col gap-6">
          <NameSection teamId={teamId} name={team.name} />
          <UnknownSection teamId={teamId} policy={team.unknown} />
          <CapSection dailyCap={team.daily_cap} handedOverToday={team.handed_over_today ?? 0} />
          <CopiesSection teamId={teamId} domain={null} />
          <RetentionSection
            teamId={teamId}
            retention={{ bodiesDays: team.keep_contents_days, emailsDays: team.keep_emails_days }}
          />
          <OtherTeamSection />
          <DeletionSection teamId={teamId} name={team.name} />
        </div>
      )}
    </Fetched>
  );
}

function NameSection({ teamId, name }: { teamId: string; name: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const disabledReason = useDisabledReason()("team:write", "change the team");
  const [typed, setTyped] = useState<string | null>(null);
  const value = typed ?? name;
  const fault = findNameFault(value);
  const renaming = useAction(trpc.team.change.mutationOptions(), {
    done: "Team renamed",
    refresh: [trpc.team.settings.queryKey()],
    onDone: () => {
      setTyped(null);
      // The page layout also shows the name.
      router.refresh();
    },
  });
  return (
    <Section title="Name" note="Shown in the console and in invitations.">
      <ActionForm
        onSubmit={() => renaming.run({ team: teamId, name: value })}
        action={renaming}
        submitLabel="Save name"
        disabled={value === name || fault !== undefined}
        disabledReason={disabledReason}
      >
        <TextField
          label="Team name"
          error={fault}
          disabled={disabledReason !== undefined}
          value={value}
          onChange={({ target }) => setTyped(target.value)}
        />
      </ActionForm>
    </Section>
  );
}

type Policy = "retry" | "hold";

const CHOICES = [
  {
    value: "retry",
    label: "Send again",
    hint: "No email is lost. A recipient may occasionally receive the same email twice.",
  },
  {
    value: "hold",
    label: "Hold until resolved",
    hint: "No email is sent twice. The email keeps the status “unknown” until a member or an API request resolves it.",
  },
] as const;

const policyOf = (text: string): Policy => (text === "hold" ? "hold" : "retry");

/** The policy for emails with an unknown outcome. */
function UnknownSection({ teamId, policy }: { teamId: string; policy: Policy }) {
  const trpc = useTRPC();
  const disabledReason = useDisabledReason()("team:write", "change the team");
  const [chosen, setChosen] = useState<Policy | null>(null);
  const change = useAction(trpc.team.change.mutationOptions(), {
    done: "Saved. Applies to future unknown outcomes.",
    refresh: [trpc.team.settings.queryKey()],
    onDone: () => setChosen(null),
  });
  const value = chosen ?? policy;
  return (
    <Section
      title="Unknown outcome"
      note="If the connection drops after the email was sent and before the server responds, the outcome is unknown. This is rare."
    >
      <ActionForm
        onSubmit={() => change.run({ team: teamId, unknown: value })}
        action={change}
        submitLabel="Save policy"
        disabled={value === policy}
        disabledReason={disabledReason}
      >
        <RadioCards
          label={<span className="sr-only">Policy for an unknown outcome</span>}
          name="unknown"
          options={CHOICES}
          value={value}
          disabled={disabledReason !== undefined}
          onChange={({ target }) => setChosen(policyOf(target.value))}
        />
      </ActionForm>
    </Section>
  );
}

const number = new Intl.NumberFormat("en");

type CapProps = { dailyCap: number | null; handedOverToday: number };

/** The daily recipient cap of the team. Read-only: the operator sets it with the CLI. */
function CapSection({ dailyCap, handedOverToday }: CapProps) {
  const share = dailyCap ? Math.min(100, Math.round((handedOverToday / dailyCap) * 100)) : 0;
  return (
    <Section
      title="Daily cap"
      note="Applies to all domains of the team together. Only an operator of the installation can change it."
    >
      <div className="flex max-w-xl flex-col gap-3 px-5 pb-5">
        {dailyCap === null ? (
          <p>No cap. The number of recipients per day is not limited.</p>
        ) : (
          <>
            <p>
              <strong className="font-semibold tabular-nums">{number.format(handedOverToday)}</strong> of{" "}
              <strong className="font-semibold tabular-nums">{number.format(dailyCap)}</strong> recipients
              today (UTC). Email above the cap is queued until the next day.
            </p>
            <div aria-hidden="true" className="h-2 overflow-hidden rounded-full bg-mute-tint">
              <div className="h-full rounded-full bg-accent" style={{ width: `${share}%` }} />
            </div>
          </>
        )}
      </div>
    </Section>
  );
}

/** Creates another team. Available to an owner or admin of any team. */
function OtherTeamSection() {
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
      {isOpen && canCreate ? <NewTeam onClose={() => setOpen(false)} /> : null}
    </Section>
  );
}
