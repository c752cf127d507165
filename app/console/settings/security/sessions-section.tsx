"use client";

import { useQuery } from "@tanstack/react-query";
import { Monitor } from "lucide-react";
import { useState } from "react";
import { Badge } from "../../_ui/badge";
import { Confirm } from "../../_ui/confirm";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/notes";
import { Section } from "../../_ui/section";
import { SkeletonCard } from "../../_ui/skeleton";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { When } from "../../_ui/when";
import { LineItem, LineList, ShowMore } from "./line-item";
import { useAccountQueries } from "./use-account-queries";

const shownAtFirst = 6;

/** Where the reader is signed in, and the way to end it. */
export function SessionsSection() {
  const trpc = useTRPC();
  const [isAsked, setAsked] = useState(false);
  const [areAllShown, setAllShown] = useState(false);
  const { data, error, refetch } = useQuery(trpc.account.sessions.queryOptions());
  const refresh = useAccountQueries();
  const ending = useAct(trpc.account.endSession.mutationOptions(), { done: "Session ended", refresh });
  const endingAll = useAct(trpc.account.endOtherSessions.mutationOptions(), {
    done: ({ ended }) => (ended === 1 ? "One session ended" : `${ended} sessions ended`),
    refresh,
    onDone: () => setAsked(false),
  });
  if (error && !data) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
  if (!data) return <SkeletonCard lines={4} />;
  const others = data.length - 1;
  // The one that asks is among the first shown, however long it was still.
  const inOrder = [...data.filter(({ isThis }) => isThis), ...data.filter(({ isThis }) => !isThis)];
  const shown = areAllShown ? inOrder : inOrder.slice(0, shownAtFirst);
  return (
    <Section
      title="Sessions"
      note="Where you are signed in. One that you end is turned away at its next click."
      actions={
        others > 0 ? (
          <button type="button" onClick={() => setAsked(true)} className={`${buttonStyle.plain} h-9`}>
            End all others
          </button>
        ) : null
      }
    >
      <LineList label="Sessions">
        {shown.map(({ id, agent, address, createdAt, lastSeenAt, isThis }) => (
          <LineItem
            key={id}
            Icon={Monitor}
            title={agent}
            badge={isThis ? <Badge tone="good">This one</Badge> : null}
            actions={
              isThis ? null : (
                <button
                  type="button"
                  disabled={ending.isBusy}
                  onClick={() => ending.act({ id })}
                  aria-label={`End the session of ${agent}${address ? ` at ${address}` : ""}`}
                  className={`${buttonStyle.plain} h-9`}
                >
                  End
                </button>
              )
            }
          >
            {address ? <span className="wrap-anywhere font-mono">{address}</span> : "Unknown address"} · seen{" "}
            <When at={lastSeenAt} /> · signed in <When at={createdAt} />
          </LineItem>
        ))}
      </LineList>
      {shown.length < data.length ? (
        <ShowMore count={data.length - shown.length} onClick={() => setAllShown(true)} />
      ) : null}
      <Confirm
        open={isAsked}
        onOpenChange={setAsked}
        title="End all other sessions?"
        confirmLabel="End them"
        isBusy={endingAll.isBusy}
        fault={endingAll.fault}
        onConfirm={() => endingAll.act()}
      >
        <p>
          {others === 1 ? "One other browser has" : `${others} other browsers have`} to sign in again. This
          one stays.
        </p>
      </Confirm>
    </Section>
  );
}
