"use client";

import { LoaderCircle, Radar, Trash2 } from "lucide-react";
import { Suspense, useState } from "react";
import type { DomainRow } from "#server/trpc/domains/views";
import { Menu } from "../_ui/dialog/menu";
import { lazyPart } from "../_ui/page/lazy-part";
import { useDisabledReason } from "../_ui/page/permission";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";

const RemoveDomain = lazyPart(async () => (await import("./remove-domain")).RemoveDomain);

/** The actions of a domain in the list. The built-in domain has none. */
export function DomainRowMenu({ teamId, row }: { teamId: string; row: DomainRow }) {
  const trpc = useTRPC();
  const why = useDisabledReason()("domains:write", "change domains");
  const [isRemoving, setRemoving] = useState(false);
  const { id, name, health } = row;
  const verify = useAction(trpc.domains.verify.mutationOptions(), {
    refresh: [trpc.domains.list.queryKey()],
    done: ({ status }) =>
      status === "verified" ? `${name} is verified` : `${name} is not verified yet. Its page shows why.`,
  });
  if (health === "built_in") return null;
  if (verify.isBusy)
    return (
      <span role="status" className="inline-grid size-8 place-items-center">
        <LoaderCircle className="size-4 motion-safe:animate-spin" aria-hidden="true" />
        <span className="sr-only">Checking the records of {name}</span>
      </span>
    );
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[
          {
            label: row.last_checked_at ? "Check again" : "Verify records",
            Icon: Radar,
            why,
            onSelect: () => verify.run({ team: teamId, id }),
          },
          "line",
          {
            label: "Remove domain…",
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
