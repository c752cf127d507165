"use client";

import { useMutation } from "@tanstack/react-query";
import type { EndpointView } from "#server/trpc/webhooks/views";
import { Confirm } from "../../_ui/dialog/confirm";
import { Dialog } from "../../_ui/dialog/dialog";
import { SecretOnce } from "../../_ui/dialog/secret-once";
import { preloadToasts, showSuccess } from "../../_ui/dialog/toasts";
import { formatNumber } from "../../_ui/format-number";
import { useConsoleHref } from "../../_ui/team";
import { BreakableUrl } from "../../_ui/text/address";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { useParts } from "../../_ui/use-parts";
import { formatPending } from "../badges";

/** The props of every dialog about an endpoint. */
export type EndpointDialogProps = { teamId: string; endpoint: EndpointView; onClose: () => void };

/** Disables an endpoint. The confirmation shows how many pending events fail. */
export function DisableEndpoint({ teamId, endpoint, onClose }: EndpointDialogProps) {
  const trpc = useTRPC();
  const disabling = useAction(trpc.webhooks.update.mutationOptions(), {
    done: "Webhook disabled",
    refresh: [trpc.webhooks.pathKey()],
    onDone: onClose,
  });
  return (
    <Confirm
      onOpenChange={onClose}
      title="Disable this webhook?"
      confirmLabel="Disable"
      tone="plain"
      action={disabling}
      onConfirm={() => disabling.run({ team: teamId, id: endpoint.id, status: "disabled" })}
    >
      <p>
        No events are sent to it, and new events are not stored while it is disabled.
        {endpoint.waiting > 0
          ? ` Pending events that fail now: ${formatPending(endpoint)}. You can replay them after you enable the webhook.`
          : " It has no pending events."}
      </p>
    </Confirm>
  );
}

/**
 * Makes all pending events of an endpoint due now. The confirmation states how many there are, and the
 * message at the end how many were made due.
 */
export function RetryPending({ teamId, endpoint, onClose }: EndpointDialogProps) {
  const trpc = useTRPC();
  const { mutateAsync } = useMutation(trpc.webhooks.retryPending.mutationOptions());
  const retry = useParts(0, [trpc.webhooks.pathKey()], (sum) => {
    showSuccess(`${formatDue(sum)} due now`);
    onClose();
  });
  const { state, sum } = retry;
  const isBusy = state === "busy" || state === "done";
  const start = () => {
    preloadToasts();
    retry.start(async (next, before) => {
      const part = await mutateAsync({ team: teamId, id: endpoint.id, next });
      return { sum: before + part.count, next: part.next };
    });
  };
  const events = `${formatPending(endpoint)} pending ${endpoint.waiting === 1 ? "event" : "events"}`;
  return (
    <Confirm
      onOpenChange={isBusy ? retry.stop : onClose}
      title={`Retry ${events} now?`}
      confirmLabel={state === "ready" ? `Retry ${events}` : "Continue"}
      dismissLabel={isBusy ? "Stop" : state === "ready" ? "Cancel" : "Close"}
      tone="plain"
      isBusy={isBusy}
      isPersistent={isBusy}
      fault={retry.fault}
      onConfirm={start}
    >
      {sum > 0 ? (
        <p role="status" className="text-ink">
          {state === "stopped" ? "Stopped. " : ""}
          {formatDue(sum)} due now{isBusy ? "…" : ". The others keep their schedule."}
        </p>
      ) : null}
      <p>
        The next attempt{endpoint.waiting === 1 ? "" : " of each event"} starts within the endpoint&apos;s
        concurrency limit. It counts as an attempt: if it fails, the retry schedule continues.
      </p>
      {endpoint.pausedUntil ? (
        <p>
          The endpoint requested a delay. Attempts continue <When isDue at={endpoint.pausedUntil} />.
        </p>
      ) : null}
    </Confirm>
  );
}

const formatDue = (count: number): string =>
  `${formatNumber(count)} pending ${count === 1 ? "event is" : "events are"}`;

/** Creates a new signing secret and shows it once. The old secret also signs for one more day. */
export function RotateSecret({ teamId, endpoint, onClose }: EndpointDialogProps) {
  const trpc = useTRPC();
  const rotation = useAction(trpc.webhooks.rotate.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.webhooks.get.queryKey(), trpc.webhooks.list.queryKey()],
  });
  const { result, fault } = rotation;
  if (result)
    return (
      <Dialog
        onOpenChange={onClose}
        title="New signing secret"
        description={
          endpoint.previousUntil ? (
            <>
              Each request has both signatures until the old secret expires{" "}
              <When isDue at={endpoint.previousUntil} />.
            </>
          ) : (
            "Each request has both signatures for one day."
          )
        }
        isPersistent
      >
        <SecretOnce secret={result.signingSecret} label="Signing secret" onStored={onClose} />
      </Dialog>
    );
  return (
    <Confirm
      onOpenChange={onClose}
      title="Rotate signing secret?"
      confirmLabel="Rotate secret"
      tone="plain"
      isBusy={rotation.isBusy}
      fault={fault}
      onConfirm={() => rotation.run({ team: teamId, id: endpoint.id })}
    >
      <p>
        Each request is signed with the new secret, and for one more day also with the current one. Your
        program can verify with either secret during that day.
      </p>
      {endpoint.previousUntil ? (
        <p className="text-ink">
          Two secrets are already active. The older one expires immediately instead of{" "}
          <When isDue at={endpoint.previousUntil} />.
        </p>
      ) : null}
    </Confirm>
  );
}

/** Deletes an endpoint. The confirmation lists what is deleted with it. */
export function DeleteEndpoint({ teamId, endpoint, onClose }: EndpointDialogProps) {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  const deletion = useAction(trpc.webhooks.remove.mutationOptions(), {
    done: "Webhook deleted",
    refresh: [trpc.webhooks.list.queryKey(), trpc.webhooks.heldUnknown.queryKey()],
    goTo: () => hrefOf("/console/webhooks"),
  });
  return (
    <Confirm
      onOpenChange={onClose}
      title="Delete this webhook?"
      confirmLabel="Delete webhook"
      action={deletion}
      onConfirm={() => deletion.run({ team: teamId, id: endpoint.id })}
    >
      <p className="font-mono text-ink text-xs leading-5">
        <BreakableUrl>{endpoint.endpoint}</BreakableUrl>
      </p>
      <p>
        {endpoint.waiting > 0
          ? `Pending events that are never sent: ${formatPending(endpoint)}. `
          : "It has no pending events. "}
        Its secrets and event deliveries are deleted. This cannot be undone.
      </p>
    </Confirm>
  );
}
