import type { WebhookDeliveryView } from "#server/trpc/webhook-views";
import { cardStyle } from "../../../../_ui/styles";
import { sayDuration, When } from "../../../../_ui/when";

/** When the next call is, by which rule, and what is left of the round. */
export function NextCall({ delivery }: { delivery: WebhookDeliveryView }) {
  const { status, attempts, nextAttemptAt, waitsSeconds } = delivery;
  const most = waitsSeconds.length + 1;
  // A number and its unit stay on one line.
  const waits = waitsSeconds.map((seconds) => sayDuration(seconds * 1_000).replace(" ", "\u00a0")).join(", ");
  return (
    <section aria-labelledby="next-call" className={`${cardStyle} flex flex-col gap-1.5 p-5 leading-6`}>
      <h2 id="next-call" className="font-semibold">
        {status === "success"
          ? "It was taken"
          : status === "failed"
            ? "No call is planned"
            : status === "attempting"
              ? "A call is under way"
              : "Next call "}
        {status === "pending" && nextAttemptAt ? <When at={nextAttemptAt} /> : null}
      </h2>
      <p className="max-w-prose text-soft">
        {status === "success"
          ? `Call ${attempts} of this round was answered with a 2xx. `
          : status === "pending" && attempts === 0
            ? "It has not been called in this round, and is as soon as it is its turn. "
            : `${attempts} of at most ${most} calls of this round were made. `}
        {status === "success"
          ? null
          : `After a failure the waits are ${waits}, each up to a fifth longer or shorter, so that what failed together does not come back together. `}
        A replay begins a new round.
      </p>
    </section>
  );
}
