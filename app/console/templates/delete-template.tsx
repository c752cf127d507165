"use client";

import { useQuery } from "@tanstack/react-query";
import { Confirm } from "../_ui/dialog/confirm";
import { faultOf } from "../_ui/fault";
import { When } from "../_ui/text/when";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";

type Props = {
  teamId: string;
  template: { id: string; name: string; alias: string | null };
  onClose: () => void;
  /** The page that opens after the deletion. Default: this one stays. */
  next?: string;
};

/** Deletes a template after confirmation. The dialog shows which keys use it. */
export function DeleteTemplate({ teamId, template, onClose, next }: Props) {
  const trpc = useTRPC();
  const { id, name, alias } = template;
  const usage = useQuery(trpc.templates.use.queryOptions({ team: teamId, id }));
  const action = useAction(trpc.templates.remove.mutationOptions(), {
    done: `${name} deleted`,
    refresh: [trpc.templates.list.queryKey()],
    ...(next === undefined ? { onDone: onClose } : { goTo: () => next }),
  });
  return (
    <Confirm
      onOpenChange={onClose}
      title={`Delete ${name}?`}
      confirmLabel="Delete template"
      action={action}
      onConfirm={() => action.run({ team: teamId, id })}
    >
      <p>
        All versions are deleted. API calls that use{" "}
        {alias ? (
          <>
            <code className="wrap-anywhere rounded bg-mute-tint px-1 font-mono text-ink text-xs">
              {alias}
            </code>{" "}
            or its id
          </>
        ) : (
          "its id"
        )}{" "}
        will be rejected with 404. Emails that are already accepted, including scheduled ones, do not change.
      </p>
      {usage.data ? (
        <UsageSummary usage={usage.data} />
      ) : usage.error ? (
        <p>The usage could not be loaded: {faultOf(usage.error).message}</p>
      ) : (
        <p>Loading usage…</p>
      )}
    </Confirm>
  );
}

type Usage = { lastUsedAt: string | null; keys: (string | null)[] };

function UsageSummary({ usage: { lastUsedAt, keys } }: { usage: Usage }) {
  if (lastUsedAt === null) return <p>No stored email uses this template.</p>;
  const named = keys.filter((key) => key !== null);
  const last = <When at={lastUsedAt} className="font-medium text-ink" />;
  if (named.length === 0) return <p>Last used {last}.</p>;
  return (
    <p>
      Last used {last} by {named.length === 1 ? "the key" : "the keys"}{" "}
      <span className="font-medium text-ink">{named.join(", ")}</span>. Sending this template will fail.
    </p>
  );
}
