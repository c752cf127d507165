"use client";

import { useQuery } from "@tanstack/react-query";
import { Confirm } from "../../_ui/confirm";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { When } from "../../_ui/when";
import type { KeyDialogProps } from "./dialog-props";

/** Ends a key, after telling who would miss it. */
export function RevokeKey({ teamId, keyView, open, onOpenChange }: KeyDialogProps) {
  const trpc = useTRPC();
  const { data: use } = useQuery(
    trpc.keys.use.queryOptions({ team: teamId, id: keyView.id }, { enabled: open, staleTime: 0 }),
  );
  const revoking = useAct(trpc.keys.revoke.mutationOptions(), {
    done: "Key revoked",
    refresh: [trpc.keys.get.queryKey(), trpc.keys.list.queryKey()],
    onDone: () => onOpenChange(false),
  });
  const lastUsedAt = use?.lastUsedAt ?? keyView.lastUsedAt;
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={`Revoke the key ${keyView.name}?`}
      confirmLabel="Revoke the key"
      isBusy={revoking.isBusy}
      fault={revoking.fault}
      onConfirm={() => revoking.act({ team: teamId, id: keyView.id })}
    >
      <p>
        Whoever calls with it is refused within a second. This cannot be undone. Mail that it has sent or
        queued stays as it is.
      </p>
      <p className="text-ink">
        {lastUsedAt ? (
          <>
            It was last used <When at={lastUsedAt} />
            {use ? `, and ${sayCalls(use)} today.` : "."}
          </>
        ) : (
          "It was never used."
        )}
      </p>
    </Confirm>
  );
}

const sayCalls = ({ calls, isAtLeast }: { calls: number; isAtLeast: boolean }): string =>
  `made ${isAtLeast ? "at least " : ""}${calls} ${calls === 1 ? "call" : "calls"}`;
