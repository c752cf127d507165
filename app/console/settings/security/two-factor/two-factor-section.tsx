"use client";

import { LifeBuoy, Smartphone } from "lucide-react";
import { Suspense, useState } from "react";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { Button } from "../../../_ui/form/button";
import { lazyPart } from "../../../_ui/page/lazy-part";
import { Section } from "../../../_ui/page/section";
import { Badge } from "../../../_ui/text/badge";
import { useTRPC } from "../../../_ui/trpc";
import { useAction } from "../../../_ui/use-action";
import { ItemList, ListItem } from "../list-item";
import { ProofDialog } from "../proof-dialog";
import { useAccountQueries } from "../use-account-queries";

const AuthenticatorSetup = lazyPart(async () => (await import("./authenticator-setup")).AuthenticatorSetup);

const lowCodeCount = 3;

/** The authenticator app and the recovery codes. */
export function TwoFactorSection({ methods }: { methods: SignInMethodsView }) {
  const [opened, setOpened] = useState<"setup" | "remove" | "renew" | null>(null);
  const close = () => setOpened(null);
  const { hasAuthenticator, passkeys, recoveryCodesLeft, proof } = methods;
  const isOn = hasAuthenticator || passkeys.length > 0;
  return (
    <Section
      title="Two-factor authentication (2FA)"
      note="Requires an authenticator app or a passkey in addition to a password or an emailed link."
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
      <Suspense>{opened === "setup" ? <AuthenticatorSetup proof={proof} onClose={close} /> : null}</Suspense>
      {opened === "remove" ? <RemoveAuthenticator methods={methods} onClose={close} /> : null}
      {opened === "renew" ? <RenewCodes proof={proof} onClose={close} /> : null}
    </Section>
  );
}

const formatCodesLeft = (count: number) =>
  count === 0
    ? "No codes left. Create new codes now."
    : count === 1
      ? "1 code left. Create new codes soon."
      : `${count} codes left. Each can be used once.`;

function RemoveAuthenticator({ methods, onClose }: { methods: SignInMethodsView; onClose: () => void }) {
  const trpc = useTRPC();
  const removal = useAction(trpc.account.removeAuthenticator.mutationOptions(), {
    done: "Authenticator app removed",
    refresh: useAccountQueries(),
    onDone: onClose,
  });
  return (
    <ProofDialog
      title="Remove authenticator app?"
      proof={methods.proof}
      submitLabel="Remove"
      tone="danger"
      action={removal}
      onProof={(proof) => removal.run({ proof })}
      onClose={onClose}
    >
      <p className="text-soft leading-6">
        {methods.passkeys.length > 0
          ? "Sign-in with a password then requires a passkey or a recovery code."
          : "This turns off two-factor authentication. Your password or an emailed link is then enough to sign in. The recovery codes are deleted."}
      </p>
    </ProofDialog>
  );
}

function RenewCodes({ proof, onClose }: { proof: SignInMethodsView["proof"]; onClose: () => void }) {
  const trpc = useTRPC();
  const renewal = useAction(trpc.account.renewRecoveryCodes.mutationOptions({ gcTime: 0 }), {
    refresh: useAccountQueries(),
  });
  return (
    <ProofDialog
      title="Create new recovery codes?"
      proof={proof}
      submitLabel="Create new codes"
      action={renewal}
      onProof={(given) => renewal.run({ proof: given })}
      onClose={onClose}
      codes={renewal.result?.recoveryCodes}
    >
      <p className="text-soft leading-6">All previous codes become invalid.</p>
    </ProofDialog>
  );
}
