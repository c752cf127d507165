"use client";

import { LifeBuoy, Smartphone } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { SignInMethodsView } from "#server/trpc/account/views";
import { Dialog } from "../../_ui/dialog/dialog";
import { Section } from "../../_ui/page/section";
import { buttonStyle } from "../../_ui/styles";
import { Badge } from "../../_ui/text/badge";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { AuthenticatorSetup } from "./authenticator-setup";
import { ItemList, ListItem } from "./list-item";
import { ProofDialog } from "./proof-dialog";
import { ProofForm } from "./proof-form";
import { RecoveryCodes } from "./recovery-codes";
import { useAccountQueries } from "./use-account-queries";

const lowCodeCount = 3;

/** The authenticator app and the recovery codes. */
export function TwoFactorSection({ methods }: { methods: SignInMethodsView }) {
  const [isOpen, setOpen] = useState<"setup" | "remove" | "renew" | null>(null);
  const close = () => setOpen(null);
  const isOn = methods.hasAuthenticator || methods.passkeys.length > 0;
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
            methods.hasAuthenticator ? (
              <ItemButton onClick={() => setOpen("remove")}>Remove</ItemButton>
            ) : (
              <ItemButton onClick={() => setOpen("setup")}>Set up</ItemButton>
            )
          }
        >
          {methods.hasAuthenticator
            ? "Sign-in requires a code from the app."
            : "Generates a new six-digit code every 30 seconds."}
        </ListItem>
        {isOn ? (
          <ListItem
            Icon={LifeBuoy}
            title="Recovery codes"
            actions={<ItemButton onClick={() => setOpen("renew")}>Create new codes</ItemButton>}
          >
            <span className={methods.recoveryCodesLeft < lowCodeCount ? "text-warn" : ""}>
              {formatCodesLeft(methods.recoveryCodesLeft)}
            </span>
          </ListItem>
        ) : null}
      </ItemList>
      <AuthenticatorSetup open={isOpen === "setup"} onClose={close} proof={methods.proof} />
      <RemoveAuthenticator open={isOpen === "remove"} onClose={close} methods={methods} />
      <RenewCodes open={isOpen === "renew"} onClose={close} methods={methods} />
    </Section>
  );
}

const formatCodesLeft = (count: number) =>
  count === 0
    ? "No codes left. Create new codes now."
    : count === 1
      ? "1 code left. Create new codes soon."
      : `${count} codes left. Each can be used once.`;

const ItemButton = ({ onClick, children }: { onClick: () => void; children: ReactNode }) => (
  <button type="button" onClick={onClick} className={`${buttonStyle.plain} h-9`}>
    {children}
  </button>
);

type DialogProps = { open: boolean; onClose: () => void; methods: SignInMethodsView };

function RemoveAuthenticator({ open, onClose, methods }: DialogProps) {
  const trpc = useTRPC();
  const removing = useAction(trpc.account.removeAuthenticator.mutationOptions(), {
    done: "Authenticator app removed",
    refresh: useAccountQueries(),
    onDone: onClose,
  });
  return (
    <ProofDialog
      open={open}
      onClose={() => {
        removing.reset();
        onClose();
      }}
      title="Remove authenticator app?"
      kind={methods.proof}
      confirmLabel="Remove"
      isBusy={removing.isBusy}
      fault={removing.fault}
      onProve={(proof) => removing.run({ proof })}
    >
      <p>
        {methods.passkeys.length > 0
          ? "Sign-in with a password then requires a passkey or a recovery code."
          : "This turns off two-factor authentication. Your password or an emailed link is then enough to sign in. The recovery codes are deleted."}
      </p>
    </ProofDialog>
  );
}

function RenewCodes({ open, onClose, methods }: DialogProps) {
  const trpc = useTRPC();
  const renewing = useAction(trpc.account.renewRecoveryCodes.mutationOptions(), {
    refresh: useAccountQueries(),
  });
  const codes = renewing.result?.recoveryCodes;
  const close = () => {
    renewing.reset();
    onClose();
  };
  return (
    <Dialog
      open={open}
      onOpenChange={(isOpen) => !isOpen && close()}
      title={codes ? "Save your recovery codes" : "Create new recovery codes?"}
      isPersistent={codes !== undefined}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onStored={close} />
      ) : (
        <ProofForm
          kind={methods.proof}
          confirmLabel="Create new codes"
          isBusy={renewing.isBusy}
          fault={renewing.fault}
          onProve={(proof) => renewing.run({ proof })}
          onCancel={close}
        >
          <p className="text-soft leading-6">All previous codes become invalid.</p>
        </ProofForm>
      )}
    </Dialog>
  );
}
