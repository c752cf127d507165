"use client";

import { CirclePause, CirclePlay, Pencil, PlugZap, Trash2 } from "lucide-react";
import { useState } from "react";
import type { RelayRow } from "#server/trpc/installation/relays";
import { Confirm } from "../../_ui/dialog/confirm";
import { Menu } from "../../_ui/dialog/menu";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

const DIALOGS = {
  edit: lazyDialog(async () => (await import("./dialogs")).EditRelay),
  test: lazyDialog(async () => (await import("./dialogs")).TestRelay),
  pause: lazyDialog(async () => (await import("./dialogs")).PauseRelay),
};

/** Edit, test, pause or resume, and remove a relay. */
export function RelayMenu({ relay }: { relay: RelayRow }) {
  const trpc = useTRPC();
  const [opened, setOpened] = useState<keyof typeof DIALOGS | "remove" | null>(null);
  const Opened = opened && opened !== "remove" ? DIALOGS[opened] : null;
  const close = () => setOpened(null);
  const refresh = [trpc.relays.list.queryKey(), trpc.service.readiness.queryKey()];
  const { id, name, pauseReason } = relay;
  const resuming = useAction(trpc.relays.resume.mutationOptions(), { done: `${name} resumed`, refresh });
  const removing = useAction(trpc.relays.remove.mutationOptions(), {
    done: `${name} removed`,
    refresh,
    onDone: close,
  });
  return (
    <>
      <Menu
        label={`Actions for ${name}`}
        items={[
          { label: "Edit…", Icon: Pencil, onSelect: () => setOpened("edit") },
          { label: "Test login", Icon: PlugZap, onSelect: () => setOpened("test") },
          pauseReason === null
            ? { label: "Pause…", Icon: CirclePause, onSelect: () => setOpened("pause") }
            : { label: "Resume", Icon: CirclePlay, onSelect: () => resuming.run({ id }) },
          { label: "Remove…", Icon: Trash2, onSelect: () => setOpened("remove") },
        ]}
      />
      {Opened ? <Opened relay={relay} onClose={close} /> : null}
      <Confirm
        open={opened === "remove"}
        onOpenChange={close}
        title={`Remove the relay ${name}?`}
        confirmLabel="Remove relay"
        action={removing}
        onConfirm={() => removing.run({ id })}
      >
        <p>Its queued email uses the next relay. Its password cannot be restored.</p>
      </Confirm>
    </>
  );
}
