"use client";

import { useQuery } from "@tanstack/react-query";
import { Monitor } from "lucide-react";
import { useState } from "react";
import { Confirm } from "../../_ui/dialog/confirm";
import { faultOf } from "../../_ui/fault";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Section } from "../../_ui/page/section";
import { buttonStyle } from "../../_ui/styles";
import { Badge } from "../../_ui/text/badge";
import { FaultNote } from "../../_ui/text/notes";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ItemList, ListItem, ShowMore } from "./list-item";
import { useAccountQueries } from "./use-account-queries";

const initialCount = 6;

/** The sessions of the user, and how to end them. */
export function SessionsSection() {
  const trpc = useTRPC();
  const [isConfirming, setConfirming] = useState(false);
  const [isExpanded, setExpanded] = useState(false);
  const { data, error, refetch } = useQuery(trpc.account.sessions.queryOptions());
  const refresh = useAccountQueries();
  const ending = useAction(trpc.account.endSession.mutationOptions(), { done: "Session ended", refresh });
  const endingAll = useAction(trpc.account.endOtherSessions.mutationOptions(), {
    done: ({ ended }) => (ended === 1 ? "One session ended" : `${ended} sessions ended`),
    refresh,
    onDone: () => setConfirming(false),
  });
  if (error && !data) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonCard lines={4} />;
  const others = data.length - 1;
  // The current session comes first, even if it was idle for a long time.
  const inOrder = [...data.filter(({ isThis }) => isThis), ...data.filter(({ isThis }) => !isThis)];
  const visible = isExpanded ? inOrder : inOrder.slice(0, initialCount);
  return (
    <Section
      title="Sessions"
      note="The devices where you are signed in. Ending a session takes effect immediately."
      actions={
        others > 0 ? (
          <button type="button" onClick={() => setConfirming(true)} className={`${buttonStyle.plain} h-9`}>
            End all others
          </button>
        ) : null
      }
    >
      <ItemList label="Sessions">
        {visible.map(({ id, agent, address, createdAt, lastSeenAt, isThis }) => (
          <ListItem
            key={id}
            Icon={Monitor}
            title={agent}
            badge={isThis ? <Badge tone="good">Current</Badge> : null}
            actions={
              isThis ? null : (
                <button
                  type="button"
                  disabled={ending.isBusy}
                  onClick={() => ending.run({ id })}
                  aria-label={`End the session of ${agent}${address ? ` at ${address}` : ""}`}
                  className={`${buttonStyle.plain} h-9`}
                >
                  End
                </button>
              )
            }
          >
            {address ? <span className="wrap-anywhere font-mono">{address}</span> : "Unknown address"} · last
            active <When at={lastSeenAt} /> · signed in <When at={createdAt} />
          </ListItem>
        ))}
      </ItemList>
      {visible.length < data.length ? (
        <ShowMore count={data.length - visible.length} onClick={() => setExpanded(true)} />
      ) : null}
      <Confirm
        open={isConfirming}
        onOpenChange={setConfirming}
        title="End all other sessions?"
        confirmLabel="End sessions"
        isBusy={endingAll.isBusy}
        fault={endingAll.fault}
        onConfirm={() => endingAll.run()}
      >
        <p>
          {others === 1 ? "One other browser has" : `${others} other browsers have`} to sign in again. The
          current session stays active.
        </p>
      </Confirm>
    </Section>
  );
}
