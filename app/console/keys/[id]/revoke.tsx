"use client";

import { useQuery } from "@tanstack/react-query";
import { Confirm } from "../../_ui/dialog/confirm";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import type { KeyDialogProps } from "./dialog-props";

/** Revokes a key. The confirmation shows its last use and its requests of today. */
export function RevokeKey({ teamId, keyView, open, onOpenChange }: KeyDialogProps) {
  const trpc = useTRPC();
  const { data: usage } = useQuery(
    trpc.keys.use.queryOptions({ team: teamId, id: keyView.id }, { enabled: open, staleTime: 0 }),
  );
  const revoking = useAction(trpc.keys.revoke.mutationOptions(), {
    done: "Key revoked",
    refresh: [trpc.keys.get.queryKey(), trpc.keys.list.queryKey()],
    onDone: () => onOpenChange(false),
  });
  const lastUsedAt = usage?.lastUsedAt ?? keyView.lastUsedAt;
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={`Revoke key ${keyView.name}?`}
      confirmLabel="Revoke key"
      isBusy={revoking.isBusy}
      fault={revoking.fault}
      onConfirm={() => revoking.run({ team: teamId, id: keyView.id })}
    >
      <p>
        Requests with this key are rejected immediately. This cannot be undone. Email that it has sent or
        queued is not affected.
      </p>
      <p className="text-ink">
        {lastUsedAt ? (
          <>
            Last used <When at={lastUsedAt} />
            {usage ? `. ${formatRequests(usage)} today.` : "."}
          </>
        ) : (
          "Never used."
        )}
      </p>
    </Confirm>
  );
}

const formatRequests = ({ calls, isAtLeast }: { calls: number; isAtLeast: boolean }): string =>
  `${isAtLeast ? "At least " : ""}${calls} ${calls === 1 ? "request" : "requests"}`;
