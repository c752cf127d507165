"use client";

import { useState } from "react";
import { RadioCards, SubmitButton } from "../../_ui/form/form";
import { FormFault } from "../../_ui/form/form-fault";
import { useDisabledReason } from "../../_ui/page/permission";
import { Section } from "../../_ui/page/section";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

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
    hint: "No email is sent twice. It keeps the status “unknown” until a member or a program resolves it.",
  },
] as const;

const policyOf = (text: string): Policy => (text === "hold" ? "hold" : "retry");

/** The policy for emails with an unknown outcome. */
export function UnknownSection({ teamId, policy }: { teamId: string; policy: Policy }) {
  const trpc = useTRPC();
  const disabledReason = useDisabledReason()("team:write", "change the team");
  const [chosen, setChosen] = useState<Policy | null>(null);
  const change = useAction(trpc.team.change.mutationOptions(), {
    done: "Saved. Applies to future unknown outcomes.",
    refresh: [trpc.team.settings.queryKey()],
    onDone: () => setChosen(null),
  });
  const { fault } = change;
  const value = chosen ?? policy;
  return (
    <Section
      title="Unknown outcome"
      note="If a connection breaks after the whole email was sent and before the server responds, it is unknown whether the server accepted the email. This is rare."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.run({ team: teamId, unknown: value });
        }}
        className="flex max-w-xl flex-col gap-5 px-5 pb-5"
      >
        <RadioCards
          label={<span className="sr-only">Policy for an unknown outcome</span>}
          name="unknown"
          options={CHOICES}
          value={value}
          disabled={disabledReason !== undefined}
          onChange={({ target }) => setChosen(policyOf(target.value))}
        />
        {fault ? <FormFault fault={fault} /> : null}
        <div>
          <SubmitButton isBusy={change.isBusy} disabled={value === policy} disabledReason={disabledReason}>
            Save policy
          </SubmitButton>
        </div>
      </form>
    </Section>
  );
}
