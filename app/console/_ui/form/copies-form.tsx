"use client";

import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { CopySettings } from "#server/services/returns/copies/mailboxes";
import { SkeletonCard } from "../list/skeleton";
import { Section } from "../page/card";
import { Fetched } from "../page/fetched";
import { useDisabledReason } from "../page/permission";
import { MessageText } from "../text/address";
import { useTRPC } from "../trpc";
import { useAction } from "../use-action";
import { ActionForm } from "./action-form";
import { CheckboxField, TextField } from "./form";

/** `domain`: null for the mailboxes of the team. */
type Props = { teamId: string; domain: string | null };

/** The mailboxes that have copies of bounces and replies, and what prevents copies. */
export function CopiesSection(props: Props) {
  const copies = useQuery(useTRPC().team.copies.queryOptions({ team: props.teamId, domain: props.domain }));
  return (
    <Fetched by={copies} loading={<SkeletonCard lines={4} />}>
      {(data) => (
        <Section
          title="Copies of bounces and replies"
          note="What comes to the return path of an email is also sent to these mailboxes: addresses at verified domains of the team, or of members."
        >
          <CopiesForm {...props} copies={data} />
        </Section>
      )}
    </Fetched>
  );
}

function CopiesForm({ teamId, domain, copies }: Props & { copies: CopySettings }) {
  const trpc = useTRPC();
  const disabledReason = useDisabledReason()("team:write", "change the team");
  const disabled = disabledReason !== undefined;
  const [isOfTeam, setOfTeam] = useState(domain !== null && copies.isOfTeam);
  const action = useAction(trpc.team.setCopies.mutationOptions(), {
    refresh: [trpc.team.copies.pathKey()],
    done: "Saved",
  });
  const save = (event: FormEvent<HTMLFormElement>) => {
    const entered = new FormData(event.currentTarget);
    const mailboxOf = (name: "bounceCopiesTo" | "replyCopiesTo") => String(entered.get(name)).trim() || null;
    action.run({
      team: teamId,
      domain,
      mailboxes: isOfTeam
        ? null
        : { bounceCopiesTo: mailboxOf("bounceCopiesTo"), replyCopiesTo: mailboxOf("replyCopiesTo") },
    });
  };
  return (
    <ActionForm onSubmit={save} action={action} submitLabel="Save mailboxes" disabledReason={disabledReason}>
      {copies.faults.map((fault) => (
        <p key={fault} className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
          <MessageText>{fault}</MessageText>
        </p>
      ))}
      {domain === null ? null : (
        <CheckboxField
          label="Use the mailboxes of the team"
          disabled={disabled}
          checked={isOfTeam}
          onChange={({ target }) => setOfTeam(target.checked)}
        />
      )}
      {isOfTeam ? null : (
        <>
          <TextField
            label="Bounces"
            type="email"
            hint="Leave empty for no copies. Delays, complaints and automatic replies are not copied."
            disabled={disabled}
            name="bounceCopiesTo"
            defaultValue={copies.bounceCopiesTo ?? ""}
          />
          <TextField
            label="Replies"
            type="email"
            hint="What people send to the return path. Your reply to the copy is sent to the person."
            disabled={disabled}
            name="replyCopiesTo"
            defaultValue={copies.replyCopiesTo ?? ""}
          />
        </>
      )}
    </ActionForm>
  );
}
