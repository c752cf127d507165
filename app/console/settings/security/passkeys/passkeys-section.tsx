"use client";

import { KeyRound, Pencil, Trash2 } from "lucide-react";
import { Suspense, useState } from "react";
import type { PasskeyResponse } from "#server/shared/wire/people/passkey";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { Menu } from "../../../_ui/dialog/menu";
import { Button } from "../../../_ui/form/button";
import { lazyPart } from "../../../_ui/page/lazy-part";
import { Section } from "../../../_ui/page/section";
import { Badge } from "../../../_ui/text/badge";
import { When } from "../../../_ui/text/when";
import { ItemList, ListItem } from "../list-item";

const AddPasskey = lazyPart(async () => (await import("./add-passkey")).AddPasskey);
const RenamePasskey = lazyPart(async () => (await import("./passkey-dialogs")).RenamePasskey);
const RemovePasskey = lazyPart(async () => (await import("./passkey-dialogs")).RemovePasskey);

type Opened = { kind: "add" } | { kind: "rename" | "remove"; passkey: PasskeyResponse };

/** The passkeys of the user. */
export function PasskeysSection({ methods }: { methods: SignInMethodsView }) {
  const [opened, setOpened] = useState<Opened | null>(null);
  const { passkeys, arePasskeysPossible } = methods;
  const close = () => setOpened(null);
  return (
    <Section
      title="Passkeys"
      note="Sign in with your fingerprint, face or PIN instead of a password. Phishing-resistant."
      actions={
        arePasskeysPossible ? (
          <Button isSmall onClick={() => setOpened({ kind: "add" })}>
            Add passkey
          </Button>
        ) : null
      }
    >
      {passkeys.length > 0 ? (
        <ItemList label="Passkeys">
          {passkeys.map((passkey) => (
            <ListItem
              key={passkey.id}
              Icon={KeyRound}
              title={passkey.name}
              badge={passkey.is_synced ? <Badge tone="mute">Synced</Badge> : null}
              actions={
                <Menu
                  label={`Actions for ${passkey.name}`}
                  items={[
                    { label: "Rename", Icon: Pencil, onSelect: () => setOpened({ kind: "rename", passkey }) },
                    {
                      label: "Remove",
                      Icon: Trash2,
                      tone: "bad",
                      onSelect: () => setOpened({ kind: "remove", passkey }),
                    },
                  ]}
                />
              }
            >
              Added <When at={passkey.created_at} />,{" "}
              {passkey.last_used_at ? (
                <>
                  last used <When at={passkey.last_used_at} />
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
      <Suspense>
        {opened?.kind === "add" ? <AddPasskey proof={methods.proof} onClose={close} /> : null}
        {opened?.kind === "rename" ? <RenamePasskey passkey={opened.passkey} onClose={close} /> : null}
        {opened?.kind === "remove" ? (
          <RemovePasskey passkey={opened.passkey} methods={methods} onClose={close} />
        ) : null}
      </Suspense>
    </Section>
  );
}
