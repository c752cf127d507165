"use client";

import { useState } from "react";
import { ActionForm } from "../../_ui/form/action-form";
import { RadioCards } from "../../_ui/form/form";
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
  const value = chosen ?? policy;
  return (
    <Section
      title="Unknown outcome"
      note="If a connection breaks after the whole email was sent and before the server responds, it is unknown whether the server accepted the email. This is rare."
    >
      <ActionForm
        onSubmit={(event) => {
          event.preventDefault();
          change.run({ team: teamId, unknown: value });
        }}
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
