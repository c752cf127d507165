"use client";

import { useQuery } from "@tanstack/react-query";
import { Monitor } from "lucide-react";
import { useState } from "react";
import { Confirm } from "../../_ui/dialog/confirm";
import { Button } from "../../_ui/form/button";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { Section } from "../../_ui/page/section";
import { Badge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { ExpandableList, ListItem } from "./list-item";
import { useAccountQueries } from "./use-account-queries";

/** The sessions of the user, and how to end them. */
export function SessionsSection() {
  const trpc = useTRPC();
  const [isConfirming, setConfirming] = useState(false);
  const sessions = useQuery(trpc.account.sessions.queryOptions());
  const refresh = useAccountQueries();
  const ending = useAction(trpc.account.endSession.mutationOptions(), { done: "Session ended", refresh });
  const endingAll = useAction(trpc.account.endOtherSessions.mutationOptions(), {
    done: ({ ended }) => (ended === 1 ? "One session ended" : `${ended} sessions ended`),
    refresh,
    onDone: () => setConfirming(false),
  });
  const others = (sessions.data?.length ?? 1) - 1;
  return (
    <Fetched by={sessions} loading={<SkeletonCard lines={4} />}>
      {(rows) => (
        <Section
          title="Sessions"
          note="The devices where you are signed in. Ending a session takes effect immediately."
          actions={
            others > 0 ? (
              <Button isSmall onClick={() => setConfirming(true)}>
                End all others
              </Button>
            ) : null
          }
        >
          {/* The current session comes first, even if it was idle for a long time. */}
          <ExpandableList
            label="Sessions"
            rows={[...rows].sort((one, other) => Number(other.is_current) - Number(one.is_current))}
            initialCount={6}
          >
            {({ id, agent, address, created_at, last_seen_at, is_current }) => (
              <ListItem
                key={id}
                Icon={Monitor}
                title={agent}
                badge={is_current ? <Badge tone="good">Current</Badge> : null}
                actions={
                  is_current ? null : (
                    <Button
                      isSmall
                      disabled={ending.isBusy}
                      onClick={() => ending.run({ id })}
                      aria-label={`End the session of ${agent}${address ? ` at ${address}` : ""}`}
                    >
                      End
                    </Button>
                  )
                }
              >
                {address ? <span className="wrap-anywhere font-mono">{address}</span> : "Unknown address"} ·
                last active <When at={last_seen_at} /> · signed in <When at={created_at} />
              </ListItem>
            )}
          </ExpandableList>
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
      )}
    </Fetched>
  );
}
