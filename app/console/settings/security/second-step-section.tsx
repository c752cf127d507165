"use client";

import { LifeBuoy, Smartphone } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { LocksView } from "#server/trpc/account-views";
import { Badge } from "../../_ui/badge";
import { Dialog } from "../../_ui/dialog";
import { Section } from "../../_ui/section";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { AuthenticatorSetup } from "./authenticator-setup";
import { LineItem, LineList } from "./line-item";
import { ProofDialog } from "./proof-dialog";
import { ProofForm } from "./proof-form";
import { RecoveryCodes } from "./recovery-codes";
import { useAccountQueries } from "./use-account-queries";

const fewCodes = 3;

/** The authenticator app, and the recovery codes for whoever loses it. */
export function SecondStepSection({ locks }: { locks: LocksView }) {
  const [isOpen, setOpen] = useState<"setup" | "remove" | "renew" | null>(null);
  const close = () => setOpen(null);
  const isOn = locks.hasAuthenticator || locks.passkeys.length > 0;
  return (
    <Section
      title="Second step"
      note="With an authenticator app or a passkey, a password or a mailed link alone lets nobody in."
      actions={isOn ? <Badge tone="good">On</Badge> : <Badge tone="mute">Off</Badge>}
    >
      <LineList label="Second step">
        <LineItem
          Icon={Smartphone}
          title="Authenticator app"
          actions={
            locks.hasAuthenticator ? (
              <LineButton onClick={() => setOpen("remove")}>Remove</LineButton>
            ) : (
              <LineButton onClick={() => setOpen("setup")}>Set up</LineButton>
            )
          }
        >
          {locks.hasAuthenticator
            ? "Signing in asks for a code of it."
            : "Shows a code of six digits that is new every half minute."}
        </LineItem>
        {isOn ? (
          <LineItem
            Icon={LifeBuoy}
            title="Recovery codes"
            actions={<LineButton onClick={() => setOpen("renew")}>Make new ones</LineButton>}
          >
            <span className={locks.recoveryCodesLeft < fewCodes ? "text-warn" : ""}>
              {sayLeft(locks.recoveryCodesLeft)}
            </span>
          </LineItem>
        ) : null}
      </LineList>
      <AuthenticatorSetup open={isOpen === "setup"} onClose={close} proof={locks.proof} />
      <RemoveAuthenticator open={isOpen === "remove"} onClose={close} locks={locks} />
      <RenewCodes open={isOpen === "renew"} onClose={close} locks={locks} />
    </Section>
  );
}

const sayLeft = (count: number) =>
  count === 0
    ? "None is left. Make new ones before you need one."
    : count === 1
      ? "One is left. Make new ones soon."
      : `${count} are left. Each opens once.`;

const LineButton = ({ onClick, children }: { onClick: () => void; children: ReactNode }) => (
  <button type="button" onClick={onClick} className={`${buttonStyle.plain} h-9`}>
    {children}
  </button>
);

type DialogProps = { open: boolean; onClose: () => void; locks: LocksView };

function RemoveAuthenticator({ open, onClose, locks }: DialogProps) {
  const trpc = useTRPC();
  const removing = useAct(trpc.account.removeAuthenticator.mutationOptions(), {
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
      title="Remove the authenticator app?"
      kind={locks.proof}
      confirmLabel="Remove it"
      isBusy={removing.isBusy}
      fault={removing.fault}
      onProve={(proof) => removing.act({ proof })}
    >
      <p>
        {locks.passkeys.length > 0
          ? "Signing in by password will then ask for a passkey or a recovery code."
          : "Your password or a mailed link will then let anybody in who has it. The recovery codes go, too."}
      </p>
    </ProofDialog>
  );
}

function RenewCodes({ open, onClose, locks }: DialogProps) {
  const trpc = useTRPC();
  const renewing = useAct(trpc.account.renewRecoveryCodes.mutationOptions(), {
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
      title={codes ? "Keep your recovery codes" : "Make new recovery codes?"}
      isKept={codes !== undefined}
    >
      {codes ? (
        <RecoveryCodes codes={codes} onStored={close} />
      ) : (
        <ProofForm
          kind={locks.proof}
          confirmLabel="Make new codes"
          isBusy={renewing.isBusy}
          fault={renewing.fault}
          onProve={(proof) => renewing.act({ proof })}
          onCancel={close}
        >
          <p className="text-soft leading-6">All earlier ones open nothing from then on.</p>
        </ProofForm>
      )}
    </Dialog>
  );
}
