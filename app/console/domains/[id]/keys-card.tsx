"use client";

import { RotateCw } from "lucide-react";
import { useState } from "react";
import type { DomainView } from "#server/trpc/domain-views";
import { ActButton } from "../../_ui/act-button";
import { Badge } from "../../_ui/badge";
import { Confirm } from "../../_ui/confirm";
import type { Tone } from "../../_ui/statuses";
import { buttonStyle, cardStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { When } from "../../_ui/when";
import type { CardProps } from "./card";

type Key = DomainView["dkimKeys"][number];

const STAGES: Record<Key["stage"], { label: string; tone: Tone }> = {
  signing: { label: "Signs", tone: "good" },
  waiting: { label: "Waits to be seen", tone: "info" },
  retired: { label: "Retired", tone: "mute" },
};

/** The keys that mail is signed with, and how to change them. */
export function KeysCard({ teamId, domain, refresh, whyNot }: CardProps) {
  const trpc = useTRPC();
  const [isAsking, setAsking] = useState(false);
  const { dkimKeys, id } = domain;
  const next = dkimKeys.find(({ algorithm, stage }) => algorithm === "rsa" && stage === "waiting");
  const isRotating =
    next !== undefined && dkimKeys.some(({ algorithm, stage }) => algorithm === "rsa" && stage === "signing");
  const { act, isBusy, fault, reset } = useAct(trpc.domains.rotateKey.mutationOptions(), {
    refresh,
    done: "New DKIM keys made: publish their records",
    onDone: () => setAsking(false),
  });
  return (
    <section aria-labelledby="dkim-keys" className={`${cardStyle} p-5`}>
      <h2 id="dkim-keys" className="mb-3 font-semibold">
        DKIM keys
      </h2>
      <ul aria-label="DKIM keys" className="flex flex-col gap-3">
        {dkimKeys.map((key) => (
          <li key={key.id} className="flex items-start justify-between gap-3">
            <div className="min-w-0">
              <p className="wrap-anywhere font-mono text-xs leading-6">{key.selector}</p>
              <p className="text-soft text-xs">
                {key.algorithm === "rsa" ? "RSA, 2048 bits" : "Ed25519"}
                {key.keptUntil ? (
                  <>
                    {" · record stays until "}
                    <When at={key.keptUntil} />
                  </>
                ) : null}
              </p>
            </div>
            <Badge tone={STAGES[key.stage].tone}>{STAGES[key.stage].label}</Badge>
          </li>
        ))}
      </ul>
      <ActButton
        whyNot={whyNot ?? (isRotating ? "A new key waits already." : undefined)}
        onClick={() => {
          reset();
          setAsking(true);
        }}
        className={`${buttonStyle.plain} mt-4 h-9`}
      >
        <RotateCw className="size-4" aria-hidden="true" /> Rotate the keys…
      </ActButton>
      {isRotating ? (
        <p className="mt-3 text-soft text-xs leading-5">
          The key {next.selector} takes over once its record is seen. Until then nothing changes.
        </p>
      ) : null}
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title="Rotate the DKIM keys?"
        confirmLabel="Make new keys"
        tone="plain"
        isBusy={isBusy}
        fault={fault}
        onConfirm={() => act({ team: teamId, id })}
      >
        <p>
          New keys are made under selectors of their own. You publish their records beside the ones that are
          there.
        </p>
        <p>
          Mail goes on being signed with the present key until the new record is seen; then the new one signs.
          The earlier record has to stay for 7 more days, for mail that is under way. The page tells when it
          may go.
        </p>
      </Confirm>
    </section>
  );
}
