"use client";

import { useState } from "react";
import { RadioCards, SubmitButton } from "../../_ui/form";
import { FormFault } from "../../_ui/form-fault";
import { useWhyNot } from "../../_ui/no-right";
import { Section } from "../../_ui/section";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";

type Policy = "retry" | "hold";

const CHOICES = [
  {
    value: "retry",
    label: "Send it again",
    hint: "No mail is lost. Now and then somebody may get the same mail twice.",
  },
  {
    value: "hold",
    label: "Hold it until somebody decides",
    hint: "Nobody gets a mail twice. It waits as “unknown” until a person or a program says whether it arrived.",
  },
] as const;

const policyOf = (text: string): Policy => (text === "hold" ? "hold" : "retry");

/** What becomes of mail whose outcome nobody can know. */
export function UnknownSection({ teamId, policy }: { teamId: string; policy: Policy }) {
  const trpc = useTRPC();
  const whyNot = useWhyNot()("team:write", "change the team");
  const [chosen, setChosen] = useState<Policy | null>(null);
  const change = useAct(trpc.team.change.mutationOptions(), {
    done: "Saved. It holds for what becomes unknown from now on",
    refresh: [trpc.team.settings.queryKey()],
    onDone: () => setChosen(null),
  });
  const { fault } = change;
  const value = chosen ?? policy;
  return (
    <Section
      title="When nobody can know whether a mail arrived"
      note="A connection that breaks after the whole mail was sent, and before the other server answered, leaves that open. It is rare."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.act({ team: teamId, unknown: value });
        }}
        className="flex max-w-xl flex-col gap-5 px-5 pb-5"
      >
        <RadioCards
          label={<span className="sr-only">What becomes of such a mail</span>}
          name="unknown"
          options={CHOICES}
          value={value}
          disabled={whyNot !== undefined}
          onChange={({ target }) => setChosen(policyOf(target.value))}
        />
        {fault ? <FormFault fault={fault} /> : null}
        <div>
          <SubmitButton isBusy={change.isBusy} disabled={value === policy} whyNot={whyNot}>
            Save the choice
          </SubmitButton>
        </div>
      </form>
    </Section>
  );
}
