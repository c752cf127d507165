"use client";

import { LoaderCircle, Radar, Trash2 } from "lucide-react";
import { Suspense, useState } from "react";
import type { DomainRow } from "#server/trpc/domain-views";
import { lazyPart } from "../_ui/lazy-part";
import { Menu } from "../_ui/menu";
import { useWhyNot } from "../_ui/no-right";
import { useTRPC } from "../_ui/trpc";
import { useAct } from "../_ui/use-act";

const RemoveDomain = lazyPart(async () => (await import("./[id]/remove-domain")).RemoveDomain);

/** What can be done with a domain without opening it. Nobody changes the one that is built in. */
export function DomainRowMenu({ teamId, row }: { teamId: string; row: DomainRow }) {
  const trpc = useTRPC();
  const why = useWhyNot()("domains:write", "change domains");
  const [isRemoving, setRemoving] = useState(false);
  const { id, name, health } = row;
  const verify = useAct(trpc.domains.verify.mutationOptions(), {
    refresh: [trpc.domains.list.queryKey()],
    done: ({ status }) =>
      status === "verified"
        ? `${name}: everything is in order`
        : `${name} is not in order yet; its page says why`,
  });
  if (health === "built_in") return null;
  if (verify.isBusy)
    return (
      <span role="status" className="inline-grid size-8 place-items-center">
        <LoaderCircle className="size-4 motion-safe:animate-spin" aria-hidden="true" />
        <span className="sr-only">Looking at the records of {name}</span>
      </span>
    );
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[
          {
            label: row.lastCheckedAt ? "Look again now" : "Verify now",
            Icon: Radar,
            why,
            onSelect: () => verify.act({ team: teamId, id }),
          },
          "line",
          {
            label: "Remove the domain…",
            Icon: Trash2,
            tone: "bad",
            why,
            onSelect: () => setRemoving(true),
          },
        ]}
      />
      {isRemoving ? (
        <Suspense>
          <RemoveDomain teamId={teamId} domain={row} onClose={() => setRemoving(false)} />
        </Suspense>
      ) : null}
    </>
  );
}
