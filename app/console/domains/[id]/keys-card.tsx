"use client";

import { RotateCw } from "lucide-react";
import { useState } from "react";
import type { DomainView } from "#server/trpc/domains/views";
import { Confirm } from "../../_ui/dialog/confirm";
import { Button } from "../../_ui/form/button";
import { SideCard } from "../../_ui/page/card";
import { type Label, LabelBadge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { RECORD_STATUS } from "../labels";
import type { CardProps } from "./cards";

type Key = DomainView["dkimKeys"][number];

/** The state of a key. One that signs is shown as good only if the last check found its record. */
function labelOf({ stage, algorithm }: Key, { records, last_checked_at }: DomainView): Label {
  if (stage === "waiting") return RECORD_STATUS[last_checked_at === null ? "not_started" : "pending"];
  if (stage === "retired") return { label: "Retired", tone: "mute" };
  const purpose = algorithm === "rsa" ? "dkim" : "dkim_ed25519";
  const status = records.find((record) => record.purpose === purpose)?.status ?? "not_started";
  const { label, tone, description } = RECORD_STATUS[status];
  return {
    label: status === "verified" ? "Active" : `Active, ${label.charAt(0).toLowerCase()}${label.slice(1)}`,
    tone,
    description,
  };
}

/** The DKIM keys of the domain, and their rotation. */
export function KeysCard({ teamId, domain, disabledReason }: CardProps) {
  const trpc = useTRPC();
  const [isConfirming, setConfirming] = useState(false);
  const { dkimKeys, id } = domain;
  const next = dkimKeys.find(({ algorithm, stage }) => algorithm === "rsa" && stage === "waiting");
  const isRotating =
    next !== undefined && dkimKeys.some(({ algorithm, stage }) => algorithm === "rsa" && stage === "signing");
  const rotation = useAction(trpc.domains.rotateKey.mutationOptions(), {
    refresh: [trpc.domains.pathKey()],
    done: "New DKIM keys created. Publish their records.",
    onDone: () => setConfirming(false),
  });
  return (
    <SideCard title="DKIM keys">
      <ul aria-label="DKIM keys" className="flex flex-col gap-3">
        {dkimKeys.map((key) => (
          <li key={key.id} className="flex items-start justify-between gap-3">
            <div className="min-w-0">
              <p className="wrap-anywhere font-mono text-xs leading-6">{key.selector}</p>
              <p className="text-soft text-xs">
                {key.algorithm === "rsa" ? "RSA, 2048 bits" : "Ed25519"}
                {key.keptUntil ? (
                  <>
                    {" · record can be removed "}
                    <When isDue at={key.keptUntil} />
                  </>
                ) : null}
              </p>
            </div>
            <LabelBadge {...labelOf(key, domain)} />
          </li>
        ))}
      </ul>
      <Button
        isSmall
        Icon={RotateCw}
        disabledReason={disabledReason ?? (isRotating ? "A new key already awaits DNS." : undefined)}
        onClick={() => {
          rotation.reset();
          setConfirming(true);
        }}
        className="mt-4"
      >
        Rotate keys…
      </Button>
      {isRotating ? (
        <p className="mt-3 text-soft text-xs leading-5">
          Key {next.selector} becomes active when its DNS record is found. Until then the current key signs.
        </p>
      ) : null}
      <Confirm
        open={isConfirming}
        onOpenChange={setConfirming}
        title="Rotate DKIM keys?"
        confirmLabel="Create new keys"
        tone="plain"
        action={rotation}
        onConfirm={() => rotation.run({ team: teamId, id })}
      >
        <p>The new keys have new selectors. Publish their records in addition to the existing ones.</p>
        <p>
          The current key signs until the new record is found. Then the new key signs. Keep the old record for
          7 more days, because email signed with it can still be in delivery. This page shows when you can
          remove it.
        </p>
      </Confirm>
    </SideCard>
  );
}
