import type { WebhookDeliveryView } from "#server/trpc/webhooks/webhooks";
import { cardStyle } from "../../../../_ui/styles";
import { formatDuration, When } from "../../../../_ui/text/when";

/** The time of the next attempt, the retry schedule, and the attempts so far. A replay restarts the schedule. */
export function NextAttempt({ delivery }: { delivery: WebhookDeliveryView }) {
  const { status, attempts, next_attempt_at, retryAfterSeconds } = delivery;
  const attemptsMax = retryAfterSeconds.length + 1;
  // A number and its unit stay on one line.
  const delays = retryAfterSeconds
    .map((seconds) => formatDuration(seconds * 1_000).replace(" ", "\u00a0"))
    .join(", ");
  return (
    <section aria-labelledby="next-attempt" className={`${cardStyle} flex flex-col gap-1.5 p-5 leading-6`}>
      <h2 id="next-attempt" className="font-semibold">
        {status === "success"
          ? "Succeeded"
          : status === "failed"
            ? "No attempt scheduled"
            : status === "attempting"
              ? "Attempt in progress"
              : "Next attempt "}
        {status === "pending" && next_attempt_at ? <When at={next_attempt_at} /> : null}
      </h2>
      <p className="max-w-prose text-soft">
        {status === "success"
          ? `Attempt ${attempts} received a 2xx response. `
          : status === "pending" && attempts === 0
            ? "The first attempt starts as soon as the queue allows. "
            : `${attempts} of at most ${attemptsMax} attempts were made. `}
        {status === "success"
          ? null
          : `Delays between attempts: ${delays}. Each delay varies by up to 20%, which spreads out simultaneous retries. `}
        A replay restarts the schedule.
      </p>
    </section>
  );
}
