"use client";

import { Suspense, useState } from "react";
import type { KeyView } from "#server/trpc/keys/keys";
import { ActionButton } from "../../_ui/form/action-button";
import { lazyPart } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { buttonStyle } from "../../_ui/styles";

const DIALOGS = {
  rename: lazyPart(async () => (await import("./dialogs")).RenameKey),
  rotate: lazyPart(async () => (await import("./dialogs")).RotateKey),
  revoke: lazyPart(async () => (await import("./dialogs")).RevokeKey),
};
const ACTIONS = [
  { name: "rename", label: "Rename…" },
  { name: "rotate", label: "Rotate…" },
  { name: "revoke", label: "Revoke…" },
] as const;

type Props = { teamId: string; keyView: KeyView; publicUrl: string };

/** The actions on a key that is not revoked. The code of the dialogs loads when one is first opened. */
export function KeyActions({ teamId, keyView, publicUrl }: Props) {
  const disabledReason = useDisabledReason()("keys:write", "change keys");
  const [opened, setOpened] = useState<keyof typeof DIALOGS | null>(null);
  if (keyView.state === "revoked") return null;
  const Opened = opened && DIALOGS[opened];
  const expiredReason = keyView.state === "expired" ? "This key has expired. Create a new one." : undefined;
  return (
    <>
      {ACTIONS.map(({ name, label }) => (
        <ActionButton
          key={name}
          disabledReason={disabledReason ?? (name === "rotate" ? expiredReason : undefined)}
          onClick={() => setOpened(name)}
          className={`${buttonStyle.plain} h-10 ${name === "revoke" ? "text-bad" : ""}`}
        >
          {label}
        </ActionButton>
      ))}
      <Suspense>
        {Opened ? (
          <Opened teamId={teamId} keyView={keyView} publicUrl={publicUrl} onClose={() => setOpened(null)} />
        ) : null}
      </Suspense>
    </>
  );
}
