"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../_ui/form/button";
import { Section } from "../../_ui/page/card";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

const DeleteTeam = lazyDialog(async () => (await import("./delete-team")).DeleteTeam);

/** The deletion of the team with all its email: the request, or the time until which it can be canceled. */
export function DeletionSection({ teamId, name }: { teamId: string; name: string }) {
  const trpc = useTRPC();
  const { data: deletion } = useQuery(trpc.team.deletion.queryOptions({ team: teamId }));
  const disabledReason = useDisabledReason()("owners:write", "delete the team");
  const [isOpen, setOpen] = useState(false);
  const requesting = useAction(trpc.team.requestDeletion.mutationOptions(), {
    done: "Deletion requested",
    refresh: [trpc.team.deletion.queryKey(), trpc.service.pauses.queryKey()],
    onDone: () => setOpen(false),
  });
  const canceling = useAction(trpc.team.cancelDeletion.mutationOptions(), {
    done: "Deletion canceled",
    refresh: [trpc.team.deletion.queryKey(), trpc.service.pauses.queryKey()],
  });
  return (
    <Section
      title="Delete team"
      note="Deletes the team with all its emails, domains, keys and settings. Users remain."
    >
      <div className="flex flex-col items-start gap-3 px-5 pb-5 leading-6">
        {deletion ? (
          <>
            <p>
              {deletion.status === "waiting" ? (
                <>
                  The team will be deleted <When isDue at={deletion.deletes_at} />, as {deletion.requested_by}{" "}
                  requested. Until then, an owner or an operator can cancel it.
                </>
              ) : (
                "The deletion of the team has started and cannot be canceled."
              )}{" "}
              Sending is stopped: its API keys are rejected, its email stays queued, and its webhooks get no
              events.
            </p>
            <Button
              disabled={disabledReason !== undefined || canceling.isBusy || deletion.status !== "waiting"}
              title={disabledReason}
              onClick={() => canceling.run({ team: teamId })}
            >
              Cancel deletion
            </Button>
          </>
        ) : (
          <Button isSmall disabledReason={disabledReason} className="text-bad" onClick={() => setOpen(true)}>
            Delete team…
          </Button>
        )}
      </div>
      {isOpen ? (
        <DeleteTeam
          name={name}
          action={requesting}
          onConfirm={(given) => requesting.run({ team: teamId, ...given })}
          onClose={() => setOpen(false)}
        />
      ) : null}
    </Section>
  );
}
