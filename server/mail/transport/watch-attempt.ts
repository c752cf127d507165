import type { DeliveryWatch } from "./transport";

/** One signal for the deadline and the caller's own. Its reason is a sentence. `end` lets go of both. */
export function watchAttempt({ deadlineMs, signal: outer }: DeliveryWatch): {
  signal: AbortSignal;
  end(): void;
} {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new Error(`The attempt was given up after ${deadlineMs / 1000} s.`));
  }, deadlineMs);
  const onAbort = () => controller.abort(new Error("The attempt was cut short."));
  if (outer?.aborted) onAbort();
  outer?.addEventListener("abort", onAbort, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}
