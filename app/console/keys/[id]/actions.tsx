"use client";

import { Suspense, useState } from "react";
import type { KeyView } from "#server/trpc/key-views";
import { ActButton } from "../../_ui/act-button";
import { lazyPart } from "../../_ui/lazy-part";
import { useWhyNot } from "../../_ui/no-right";
import { buttonStyle } from "../../_ui/styles";

const RenameKey = lazyPart(async () => (await import("./rename")).RenameKey);
const RotateKey = lazyPart(async () => (await import("./rotate")).RotateKey);
const RevokeKey = lazyPart(async () => (await import("./revoke")).RevokeKey);

const ACTS = ["rename", "rotate", "revoke"] as const;
type ActName = (typeof ACTS)[number];
const LABELS: Record<ActName, string> = { rename: "Rename…", rotate: "Rotate…", revoke: "Revoke…" };

type Props = { teamId: string; keyView: KeyView; publicUrl: string };

/** What can be done with a key that is not revoked. Each asks in a dialog whose code comes with it. */
export function KeyActions({ teamId, keyView, publicUrl }: Props) {
  const whyNot = useWhyNot()("keys:write", "change keys");
  const [open, setOpen] = useState<ActName | null>(null);
  const [wanted, setWanted] = useState<ReadonlySet<ActName>>(new Set());
  if (keyView.state === "revoked") return null;
  const start = (name: ActName) => {
    setWanted(new Set([...wanted, name]));
    setOpen(name);
  };
  const dialog = (name: ActName) => ({
    teamId,
    keyView,
    publicUrl,
    open: open === name,
    onOpenChange: (isOpen: boolean) => setOpen(isOpen ? name : null),
  });
  const closed = keyView.state === "expired" ? "This key has ended. Make a new one." : undefined;
  return (
    <>
      {ACTS.map((name) => (
        <ActButton
          key={name}
          whyNot={whyNot ?? (name === "rotate" ? closed : undefined)}
          onClick={() => start(name)}
          className={`${buttonStyle.plain} h-10 ${name === "revoke" ? "text-bad" : ""}`}
        >
          {LABELS[name]}
        </ActButton>
      ))}
      <Suspense>
        {wanted.has("rename") ? <RenameKey {...dialog("rename")} /> : null}
        {wanted.has("rotate") ? <RotateKey {...dialog("rotate")} /> : null}
        {wanted.has("revoke") ? <RevokeKey {...dialog("revoke")} /> : null}
      </Suspense>
    </>
  );
}
