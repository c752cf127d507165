"use client";

import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { RelayRow } from "#server/trpc/installation/relays";
import { Dialog } from "../../_ui/dialog/dialog";
import { faultOf } from "../../_ui/fault";
import { Button } from "../../_ui/form/button";
import { FormFault } from "../../_ui/form/form-fault";
import { useTRPC } from "../../_ui/trpc";

/** Connects to the relay and logs in, and shows the result. */
export function TestRelay({ relay: { id, name }, onClose }: { relay: RelayRow; onClose: () => void }) {
  const trpc = useTRPC();
  const test = useMutation(trpc.relays.test.mutationOptions());
  const isStarted = useRef(false);
  const { mutate, data, isPending, error } = test;
  useEffect(() => {
    if (isStarted.current) return;
    isStarted.current = true;
    mutate({ id });
  }, [id, mutate]);
  const footer = (
    <>
      <Button disabled={isPending} onClick={() => mutate({ id })}>
        Test again
      </Button>
      <Button tone="primary" onClick={onClose}>
        Done
      </Button>
    </>
  );
  return (
    <Dialog
      onOpenChange={onClose}
      title={`Test the relay ${name}`}
      description="Connects and logs in. No email is sent."
      footer={footer}
    >
      <p role="status" className="break-words leading-6">
        {isPending || !(data || error) ? "Connecting…" : data ? formatResult(data) : null}
      </p>
      {error ? <FormFault fault={faultOf(error)} /> : null}
    </Dialog>
  );
}

const formatResult = ({ fault, isResumed }: { fault: string | null; isResumed: boolean }): string =>
  fault === null
    ? `The relay accepts the connection and the login.${isResumed ? " It carries email now." : ""}`
    : `Failed: ${fault}`;
