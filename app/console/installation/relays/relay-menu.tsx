"use client";

import { CirclePause, CirclePlay, Pencil, PlugZap, Trash2 } from "lucide-react";
import { useState } from "react";
import type { RelayRow } from "#server/trpc/installation/relays";
import { Confirm } from "../../_ui/dialog/confirm";
import { Menu } from "../../_ui/dialog/menu";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

const EditRelay = lazyDialog(async () => (await import("./dialogs")).EditRelay);
const TestRelay = lazyDialog(async () => (await import("./dialogs")).TestRelay);
const PauseRelay = lazyDialog(async () => (await import("./dialogs")).PauseRelay);

type Opened = "edit" | "test" | "pause" | "remove" | null;

/** Edit, test, pause or resume, and remove a relay. */
export function RelayMenu({ relay }: { relay: RelayRow }) {
  const trpc = useTRPC();
  const [opened, setOpened] = useState<Opened>(null);
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
          ...(pauseReason === null
            ? [{ label: "Pause…", Icon: CirclePause, onSelect: () => setOpened("pause") }]
            : []),
          ...(pauseReason !== null
            ? [{ label: "Resume", Icon: CirclePlay, onSelect: () => resuming.run({ id }) }]
            : []),
          { label: "Remove…", Icon: Trash2, onSelect: () => setOpened("remove") },
        ]}
      />
      {opened === "edit" ? <EditRelay relay={relay} onClose={close} /> : null}
      {opened === "test" ? <TestRelay relay={relay} onClose={close} /> : null}
      {opened === "pause" ? <PauseRelay relay={relay} onClose={close} /> : null}
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
