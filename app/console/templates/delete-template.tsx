"use client";

import { useQuery } from "@tanstack/react-query";
import { Confirm } from "../_ui/confirm";
import { faultOf } from "../_ui/fault";
import { useTRPC } from "../_ui/trpc";
import { useAct } from "../_ui/use-act";
import { When } from "../_ui/when";

type Props = {
  teamId: string;
  template: { id: string; name: string; alias: string | null };
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onDeleted?: () => void;
};

/** Asks once, and says who would miss it. */
export function DeleteTemplate({ teamId, template, open, onOpenChange, onDeleted }: Props) {
  const trpc = useTRPC();
  const { id, name, alias } = template;
  const use = useQuery(trpc.templates.use.queryOptions({ team: teamId, id }, { enabled: open }));
  const { act, isBusy, fault } = useAct(trpc.templates.remove.mutationOptions(), {
    done: `${name} deleted`,
    refresh: [trpc.templates.list.queryKey()],
    onDone: () => {
      onOpenChange(false);
      onDeleted?.();
    },
  });
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={`Delete ${name}?`}
      confirmLabel="Delete the template"
      isBusy={isBusy}
      fault={fault}
      onConfirm={() => act({ team: teamId, id })}
    >
      <p>
        All its versions go. From then on every send that names{" "}
        {alias ? (
          <>
            <Code>{alias}</Code> or its id
          </>
        ) : (
          "its id"
        )}{" "}
        is refused with 404. Mail that was accepted before, also what is scheduled, keeps what it says.
      </p>
      {use.data ? (
        <WhoSends use={use.data} />
      ) : use.error ? (
        <p>Who sends with it could not be looked up: {faultOf(use.error).message}</p>
      ) : (
        <p>Looking who sends with it…</p>
      )}
    </Confirm>
  );
}

type Use = { lastUsedAt: string | null; keys: (string | null)[] };

function WhoSends({ use: { lastUsedAt, keys } }: { use: Use }) {
  if (lastUsedAt === null) return <p>No mail that is still kept was made with it.</p>;
  const named = keys.filter((key) => key !== null);
  return (
    <p>
      It was last used <When at={lastUsedAt} className="font-medium text-ink" />
      {named.length > 0 ? (
        <>
          {" "}
          by {named.length === 1 ? "the key" : "the keys"}{" "}
          <span className="font-medium text-ink">{named.join(", ")}</span>, whose sends with it will fail.
        </>
      ) : (
        "."
      )}
    </p>
  );
}

function Code({ children }: { children: string }) {
  return (
    <code className="wrap-anywhere rounded bg-mute-tint px-1 font-mono text-ink text-xs">{children}</code>
  );
}
