"use client";

import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import type { HeldView } from "#server/trpc/overview/overview";
import { ActionButton } from "../../_ui/form/action-button";
import { lazyDialog } from "../../_ui/page/lazy-part";
import { useDisabledReason } from "../../_ui/page/permission";
import { buttonStyle } from "../../_ui/styles";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { formatHeld } from "./held-words";

const HeldDialog = lazyDialog(async () => (await import("./held-dialog")).HeldDialog);

const refetchMs = 30_000;

/**
 * After a restore: how much email is held and why, with the decision about it. Nothing if no email is held.
 */
export function HeldNotice({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const { data: held } = useQuery(
    trpc.overview.held.queryOptions({ team: teamId }, { refetchInterval: refetchMs }),
  );
  // As it was when the dialog was opened: it still shows the result when nothing is held.
  const [opened, setOpened] = useState<HeldView | null>(null);
  const disabledReason = useDisabledReason()("team:write", "decide about held email");
  return (
    <>
      {held ? (
        <section
          aria-label="Held email"
          className="mb-6 flex flex-wrap items-center gap-3 rounded-xl bg-warn-tint px-4 py-3 text-warn leading-6"
        >
          <TriangleAlert className="size-4 shrink-0" />
          <p className="min-w-0 flex-1 basis-80">
            The installation was restored from a backup made <When at={held.backupAt} />. {formatHeld(held)}:
            the email was queued at that time and may have been sent since. New email is sent normally.
          </p>
          <ActionButton
            disabledReason={disabledReason}
            onClick={() => setOpened(held)}
            className={`${buttonStyle.plain} h-9 text-ink`}
          >
            Review held email
          </ActionButton>
        </section>
      ) : null}
      {opened ? <HeldDialog teamId={teamId} held={opened} onClose={() => setOpened(null)} /> : null}
    </>
  );
}
