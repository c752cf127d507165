"use client";

import { Suspense, useState } from "react";
import type { KeyView } from "#server/trpc/keys/views";
import { ActionButton } from "../../_ui/form/action-button";
import { lazyPart } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { buttonStyle } from "../../_ui/styles";

const RenameKey = lazyPart(async () => (await import("./rename")).RenameKey);
const RotateKey = lazyPart(async () => (await import("./rotate")).RotateKey);
const RevokeKey = lazyPart(async () => (await import("./revoke")).RevokeKey);

const ACTIONS = ["rename", "rotate", "revoke"] as const;
type ActionName = (typeof ACTIONS)[number];
const LABELS: Record<ActionName, string> = { rename: "Rename…", rotate: "Rotate…", revoke: "Revoke…" };

type Props = { teamId: string; keyView: KeyView; publicUrl: string };

/** The actions on a key that is not revoked. The code of each dialog loads when it is first opened. */
export function KeyActions({ teamId, keyView, publicUrl }: Props) {
  const disabledReason = useDisabledReason()("keys:write", "change keys");
  const [open, setOpen] = useState<ActionName | null>(null);
  const [opened, setOpened] = useState<ReadonlySet<ActionName>>(new Set());
  if (keyView.state === "revoked") return null;
  const start = (name: ActionName) => {
    setOpened(new Set([...opened, name]));
    setOpen(name);
  };
  const dialog = (name: ActionName) => ({
    teamId,
    keyView,
    publicUrl,
    open: open === name,
    onOpenChange: (isOpen: boolean) => setOpen(isOpen ? name : null),
  });
  const expiredReason = keyView.state === "expired" ? "This key has expired. Create a new one." : undefined;
  return (
    <>
      {ACTIONS.map((name) => (
        <ActionButton
          key={name}
          disabledReason={disabledReason ?? (name === "rotate" ? expiredReason : undefined)}
          onClick={() => start(name)}
          className={`${buttonStyle.plain} h-10 ${name === "revoke" ? "text-bad" : ""}`}
        >
          {LABELS[name]}
        </ActionButton>
      ))}
      <Suspense>
        {opened.has("rename") ? <RenameKey {...dialog("rename")} /> : null}
        {opened.has("rotate") ? <RotateKey {...dialog("rotate")} /> : null}
        {opened.has("revoke") ? <RevokeKey {...dialog("revoke")} /> : null}
      </Suspense>
    </>
  );
}
