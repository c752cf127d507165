"use client";

import { KeyRound, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { LocksView } from "#server/trpc/account-views";
import { Badge } from "../../_ui/badge";
import { Menu } from "../../_ui/menu";
import { Section } from "../../_ui/section";
import { buttonStyle } from "../../_ui/styles";
import { When } from "../../_ui/when";
import { AddPasskey } from "./add-passkey";
import { LineItem, LineList } from "./line-item";
import { RemovePasskey, RenamePasskey } from "./passkey-dialogs";

type Open = { kind: "add" } | { kind: "rename" | "remove"; id: string };

/** The passkeys of the reader. */
export function PasskeysSection({ locks }: { locks: LocksView }) {
  const [open, setOpen] = useState<Open | null>(null);
  const { passkeys, arePasskeysPossible } = locks;
  const close = () => setOpen(null);
  const chosen = open && open.kind !== "add" ? passkeys.find(({ id }) => id === open.id) : undefined;
  return (
    <Section
      title="Passkeys"
      note="Sign in by your fingerprint, face or PIN, without a password. Nobody can fish for them."
      actions={
        arePasskeysPossible ? (
          <button
            type="button"
            onClick={() => setOpen({ kind: "add" })}
            className={`${buttonStyle.plain} h-9`}
          >
            Add a passkey
          </button>
        ) : null
      }
    >
      {passkeys.length > 0 ? (
        <LineList label="Passkeys">
          {passkeys.map(({ id, name, isSynced, createdAt, lastUsedAt }) => (
            <LineItem
              key={id}
              Icon={KeyRound}
              title={name}
              badge={isSynced ? <Badge tone="mute">Synced</Badge> : null}
              actions={
                <Menu
                  label={`Actions for ${name}`}
                  items={[
                    { label: "Rename", Icon: Pencil, onSelect: () => setOpen({ kind: "rename", id }) },
                    {
                      label: "Remove",
                      Icon: Trash2,
                      tone: "bad",
                      onSelect: () => setOpen({ kind: "remove", id }),
                    },
                  ]}
                />
              }
            >
              Added <When at={createdAt} />,{" "}
              {lastUsedAt ? (
                <>
                  used <When at={lastUsedAt} />
                </>
              ) : (
                "not used yet"
              )}
            </LineItem>
          ))}
        </LineList>
      ) : (
        <p className="max-w-prose px-5 pb-5 text-soft leading-6">
          {arePasskeysPossible
            ? "You have none yet. Your phone, your computer or a security key can hold one."
            : "Browsers make passkeys only where the console is opened by a host name with TLS, or as localhost. The operator settles that by POSTHORN_URL."}
        </p>
      )}
      <AddPasskey open={open?.kind === "add"} onClose={close} proof={locks.proof} />
      <RenamePasskey open={open?.kind === "rename"} onClose={close} passkey={chosen} />
      <RemovePasskey open={open?.kind === "remove"} onClose={close} passkey={chosen} locks={locks} />
    </Section>
  );
}
