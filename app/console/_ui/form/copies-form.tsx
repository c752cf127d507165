"use client";

import { useQuery } from "@tanstack/react-query";
import { SkeletonCard } from "../list/skeleton";
import { Section } from "../page/card";
import { Fetched } from "../page/fetched";
import { useDisabledReason } from "../page/permission";
import { MessageText } from "../text/address";
import { useTRPC } from "../trpc";
import { useAction } from "../use-action";
import { ActionForm } from "./action-form";
import { CheckboxField, TextField } from "./form";
import { useFields } from "./use-fields";

/** `domain`: null for the mailboxes of the team. */
type Props = { teamId: string; domain: string | null };
type Copies = {
  bounceCopiesTo: string | null;
  replyCopiesTo: string | null;
  isOfTeam: boolean;
  faults: string[];
};

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

function CopiesForm({ teamId, domain, copies }: Props & { copies: Copies }) {
  const trpc = useTRPC();
  const disabledReason = useDisabledReason()("team:write", "change the team");
  const disabled = disabledReason !== undefined;
  const { field, register, handleSubmit, watch } = useFields({
    defaultValues: {
      isOfTeam: domain !== null && copies.isOfTeam,
      bounceCopiesTo: copies.bounceCopiesTo ?? "",
      replyCopiesTo: copies.replyCopiesTo ?? "",
    },
  });
  const action = useAction(trpc.team.setCopies.mutationOptions(), {
    refresh: [trpc.team.copies.pathKey()],
    done: "Saved",
  });
  const save = handleSubmit(({ isOfTeam, bounceCopiesTo, replyCopiesTo }) =>
    action.run({
      team: teamId,
      domain,
      mailboxes: isOfTeam
        ? null
        : { bounceCopiesTo: bounceCopiesTo.trim() || null, replyCopiesTo: replyCopiesTo.trim() || null },
    }),
  );
  return (
    <ActionForm onSubmit={save} action={action} submitLabel="Save mailboxes" disabledReason={disabledReason}>
      {copies.faults.map((fault) => (
        <p key={fault} className="rounded-lg bg-warn-tint px-3.5 py-2.5 text-warn leading-6">
          <MessageText>{fault}</MessageText>
        </p>
      ))}
      {domain === null ? null : (
        <CheckboxField label="Use the mailboxes of the team" disabled={disabled} {...register("isOfTeam")} />
      )}
      {watch("isOfTeam") ? null : (
        <>
          <TextField
            label="Bounces"
            type="email"
            hint="Leave empty for no copies. Delays, complaints and automatic replies are not copied."
            disabled={disabled}
            {...field("bounceCopiesTo")}
          />
          <TextField
            label="Replies"
            type="email"
            hint="What people send to the return path. Your reply to the copy is sent to the person."
            disabled={disabled}
            {...field("replyCopiesTo")}
          />
        </>
      )}
    </ActionForm>
  );
}
