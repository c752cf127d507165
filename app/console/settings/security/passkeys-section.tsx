"use client";

import { KeyRound, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { Menu } from "../../_ui/dialog/menu";
import { Section } from "../../_ui/page/section";
import { buttonStyle } from "../../_ui/styles";
import { Badge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { AddPasskey } from "./add-passkey";
import { ItemList, ListItem } from "./list-item";
import { RemovePasskey, RenamePasskey } from "./passkey-dialogs";

type Open = { kind: "add" } | { kind: "rename" | "remove"; id: string };

/** The passkeys of the user. */
export function PasskeysSection({ methods }: { methods: SignInMethodsView }) {
  const [open, setOpen] = useState<Open | null>(null);
  const { passkeys, arePasskeysPossible } = methods;
  const close = () => setOpen(null);
  const chosen = open && open.kind !== "add" ? passkeys.find(({ id }) => id === open.id) : undefined;
  return (
    <Section
      title="Passkeys"
      note="Sign in with your fingerprint, face or PIN instead of a password. Phishing-resistant."
      actions={
        arePasskeysPossible ? (
          <button
            type="button"
            onClick={() => setOpen({ kind: "add" })}
            className={`${buttonStyle.plain} h-9`}
          >
            Add passkey
          </button>
        ) : null
      }
    >
      {passkeys.length > 0 ? (
        <ItemList label="Passkeys">
          {passkeys.map(({ id, name, isSynced, createdAt, lastUsedAt }) => (
            <ListItem
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
                  last used <When at={lastUsedAt} />
                </>
              ) : (
                "never used"
              )}
            </ListItem>
          ))}
        </ItemList>
      ) : (
        <p className="max-w-prose px-5 pb-5 text-soft leading-6">
          {arePasskeysPossible
            ? "No passkeys yet. Your phone, your computer or a security key can store one."
            : "Browsers support passkeys only over HTTPS with a host name, or on localhost. The operator configures this with BACKSTAMP_URL."}
        </p>
      )}
      <AddPasskey open={open?.kind === "add"} onClose={close} proof={methods.proof} />
      <RenamePasskey open={open?.kind === "rename"} onClose={close} passkey={chosen} />
      <RemovePasskey open={open?.kind === "remove"} onClose={close} passkey={chosen} methods={methods} />
    </Section>
  );
}
