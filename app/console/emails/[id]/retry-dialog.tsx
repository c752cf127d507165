"use client";

import { useState } from "react";
import { Confirm } from "../../_ui/confirm";
import { CheckboxField } from "../../_ui/form";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { type ActProps, retryable } from "./acts";

/** Sends the mail again to those who did not get it: all of them, or some. */
export function RetryDialog({ teamId, email, open, onOpenChange }: ActProps) {
  const trpc = useTRPC();
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const able = retryable(email).map(({ address }) => address);
  const chosen = able.filter((address) => !left.has(address));
  const { act, isBusy, fault, reset } = useAct(trpc.emails.retry.mutationOptions(), {
    done: ({ recipients }) =>
      recipients === 1 ? "Back in the queue" : `Back in the queue for ${recipients} recipients`,
    refresh: [trpc.emails.pathKey()],
    onDone: () => onOpenChange(false),
  });
  return (
    <Confirm
      open={open}
      onOpenChange={(isOpen) => {
        reset();
        onOpenChange(isOpen);
      }}
      title="Send it again?"
      confirmLabel={chosen.length === 1 ? "Retry" : `Retry ${chosen.length} recipients`}
      tone="plain"
      isBusy={isBusy || chosen.length === 0}
      fault={fault}
      onConfirm={() =>
        act({
          team: teamId,
          id: email.id,
          acceptDuplicates: false,
          ...(chosen.length < able.length ? { recipients: chosen } : {}),
        })
      }
    >
      <p>
        It goes out at once, as the same message, to {able.length === 1 ? "" : "those chosen here: "}
        {able.length === 1 ? <span className="wrap-anywhere text-ink">{able[0]}</span> : null}
        {able.length === 1 ? ". " : ""}
        Whoever has it already is not written to again.
      </p>
      {able.length > 1 ? (
        <div className="flex flex-col gap-2">
          {able.map((address) => (
            <CheckboxField
              key={address}
              label={<span className="wrap-anywhere text-ink">{address}</span>}
              checked={!left.has(address)}
              onChange={({ target }) =>
                setLeft(
                  new Set(target.checked ? [...left].filter((each) => each !== address) : [...left, address]),
                )
              }
            />
          ))}
        </div>
      ) : null}
    </Confirm>
  );
}
