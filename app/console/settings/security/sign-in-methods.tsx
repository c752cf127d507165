"use client";

import { KeyRound, LifeBuoy, Link2, Pencil, RectangleEllipsis, Smartphone, Trash2 } from "lucide-react";
import { Suspense, useState } from "react";
import type { PasskeyView } from "#server/shared/wire/people/account";
import type { SignInMethodsView } from "#server/trpc/account/account";
import { Confirm } from "../../_ui/dialog/confirm";
import { Menu } from "../../_ui/dialog/menu";
import { Button } from "../../_ui/form/button";
import { Section } from "../../_ui/page/card";
import { lazyPart } from "../../_ui/page/lazy-part";
import { Address } from "../../_ui/text/address";
import { Badge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { ItemList, ListItem } from "./list-item";
import type { OpenedPasskey } from "./passkey-dialogs";
import { useAccountAction } from "./use-account-action";

const ChangePassword = lazyPart(async () => (await import("./change-password")).ChangePassword);
const TwoFactorDialog = lazyPart(async () => (await import("./two-factor-dialogs")).TwoFactorDialog);
const PasskeyDialog = lazyPart(async () => (await import("./passkey-dialogs")).PasskeyDialog);

/** The methods that the user has set up or can set up. Changes require the user to confirm their identity. */
export function SignInMethods({ methods }: { methods: SignInMethodsView }) {
  return (
    <>
      <PasswordSection hasPassword={methods.hasPassword} />
      <TwoFactorSection methods={methods} />
      <PasskeysSection methods={methods} />
      {methods.accounts.length > 0 ? <AccountsSection accounts={methods.accounts} /> : null}
    </>
  );
}

function PasswordSection({ hasPassword }: { hasPassword: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const change = (
    <Button isSmall onClick={() => setOpen(true)}>
      Change
    </Button>
  );
  return (
    <Section title="Password" note="Stored only as a hash.">
      <ItemList label="Password">
        <ListItem
          Icon={RectangleEllipsis}
          title={hasPassword ? "A password is set" : "No password"}
          actions={hasPassword ? change : null}
        >
          {hasPassword
            ? "Changing it ends your other sessions and invalidates the sign-in and password reset links in your emails."
            : "You sign in with another method. To set a password, sign out and choose “Forgot password?”, or ask the operator for a link."}
        </ListItem>
      </ItemList>
      <Suspense>{isOpen ? <ChangePassword onClose={() => setOpen(false)} /> : null}</Suspense>
    </Section>
  );
}

const lowCodeCount = 3;

function TwoFactorSection({ methods }: { methods: SignInMethodsView }) {
  const [opened, setOpened] = useState<"setup" | "remove" | "renew" | null>(null);
  const { hasAuthenticator, passkeys, recoveryCodesLeft } = methods;
  const isOn = hasAuthenticator || passkeys.length > 0;
  return (
    <Section
      title="Two-factor authentication (2FA)"
      note="Requires a code from an authenticator app, or a passkey, after a password or an emailed link."
      actions={isOn ? <Badge tone="good">On</Badge> : <Badge tone="mute">Off</Badge>}
    >
      <ItemList label="Two-factor authentication (2FA)">
        <ListItem
          Icon={Smartphone}
          title="Authenticator app"
          actions={
            <Button isSmall onClick={() => setOpened(hasAuthenticator ? "remove" : "setup")}>
              {hasAuthenticator ? "Remove" : "Set up"}
            </Button>
          }
        >
          {hasAuthenticator
            ? "Sign-in requires a code from the app."
            : "Generates a new six-digit code every 30 seconds."}
        </ListItem>
        {isOn ? (
          <ListItem
            Icon={LifeBuoy}
            title="Recovery codes"
            actions={
              <Button isSmall onClick={() => setOpened("renew")}>
                Create new codes
              </Button>
            }
          >
            <span className={recoveryCodesLeft < lowCodeCount ? "text-warn" : ""}>
              {formatCodesLeft(recoveryCodesLeft)}
            </span>
          </ListItem>
        ) : null}
      </ItemList>
      <Suspense>
        {opened ? <TwoFactorDialog kind={opened} methods={methods} onClose={() => setOpened(null)} /> : null}
      </Suspense>
    </Section>
  );
}

function formatCodesLeft(count: number): string {
  if (count === 0) return "No codes left. Create new codes now.";
  return count === 1 ? "1 code left. Create new codes soon." : `${count} codes left. Each can be used once.`;
}

function PasskeysSection({ methods }: { methods: SignInMethodsView }) {
  const [opened, setOpened] = useState<OpenedPasskey | null>(null);
  const { passkeys, arePasskeysPossible } = methods;
  const add = (
    <Button isSmall onClick={() => setOpened({ kind: "add" })}>
      Add passkey
    </Button>
  );
  const itemsOf = (passkey: PasskeyView) => [
    { label: "Rename", Icon: Pencil, onSelect: () => setOpened({ kind: "rename", passkey }) },
    {
      label: "Remove",
      Icon: Trash2,
      tone: "bad" as const,
      onSelect: () => setOpened({ kind: "remove", passkey }),
    },
  ];
  return (
    <Section
      title="Passkeys"
      note="Sign in with your fingerprint, face or PIN, without a password. A passkey also turns on 2FA for sign-in with a password or an emailed link. Passkeys are phishing-resistant."
      actions={arePasskeysPossible ? add : null}
    >
      {passkeys.length > 0 ? (
        <ItemList label="Passkeys">
          {passkeys.map((passkey) => (
            <ListItem
              key={passkey.id}
              Icon={KeyRound}
              title={passkey.name}
              badge={passkey.isSynced ? <Badge tone="mute">Synced</Badge> : null}
              actions={<Menu label={`Actions for ${passkey.name}`} items={itemsOf(passkey)} />}
            >
              Added <When at={passkey.createdAt} />, {passkey.lastUsedAt ? "last used " : "never used"}
              {passkey.lastUsedAt ? <When at={passkey.lastUsedAt} /> : null}
            </ListItem>
          ))}
        </ItemList>
      ) : (
        <p className="max-w-prose px-5 pb-5 text-soft leading-6">
          {arePasskeysPossible ? (
            "No passkeys yet. Your phone, your computer or a security key can store one."
          ) : (
            <>
              Browsers support passkeys only over HTTPS with a host name, or on localhost. The address of this
              installation is set with <code>BACKSTAMP_URL</code>.
            </>
          )}
        </p>
      )}
      <Suspense>
        {opened ? <PasskeyDialog opened={opened} methods={methods} onClose={() => setOpened(null)} /> : null}
      </Suspense>
    </Section>
  );
}

type Account = SignInMethodsView["accounts"][number];

/** The external accounts that the user has linked or can link. */
function AccountsSection({ accounts }: { accounts: readonly Account[] }) {
  const trpc = useTRPC();
  const [toUnlink, setToUnlink] = useState<Account | null>(null);
  const unlinking = useAccountAction(trpc.account.unlink.mutationOptions(), {
    done: "Account unlinked",
    onDone: () => setToUnlink(null),
  });
  const close = () => {
    unlinking.reset();
    setToUnlink(null);
  };
  return (
    <Section title="External accounts" note="Sign in with an external account.">
      <ItemList label="External accounts">
        {accounts.map((account) => (
          <ListItem
            key={account.provider}
            Icon={Link2}
            title={account.name}
            actions={
              account.linked ? (
                <Button isSmall onClick={() => setToUnlink(account)}>
                  Unlink
                </Button>
              ) : null
            }
          >
            {account.linked ? (
              <span className="break-words">
                Linked to <Address>{account.linked.email}</Address>, last used{" "}
                <When at={account.linked.lastUsedAt} />
              </span>
            ) : (
              `Not linked. Sign in once with a ${account.name} account that has your verified email address.`
            )}
          </ListItem>
        ))}
      </ItemList>
      <Confirm
        open={toUnlink !== null}
        onOpenChange={(isOpen) => !isOpen && close()}
        title={`Unlink ${toUnlink?.name ?? "the account"}?`}
        confirmLabel="Unlink"
        action={unlinking}
        onConfirm={() => toUnlink && unlinking.run({ provider: toUnlink.provider })}
      >
        <p>
          You can no longer sign in with it. It is linked again when you sign in with an account there that
          has your verified email address.
        </p>
      </Confirm>
    </Section>
  );
}
