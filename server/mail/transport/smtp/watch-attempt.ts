import { setMaxListeners } from "node:events";
import type { DeliveryWatch } from "../transport";

/** Combines the deadline and the caller's signal into one signal, whose reason is a sentence. `end` releases both. */
export function watchAttempt({ deadlineMs, signal: outer }: DeliveryWatch): {
  signal: AbortSignal;
  end(): void;
} {
  const controller = new AbortController();
  // Parallel DNS queries and connections for all destinations of an attempt listen to this signal.
  setMaxListeners(0, controller.signal);
  const timer = setTimeout(() => {
    controller.abort(new Error(`The attempt timed out after ${deadlineMs / 1000} s.`));
  }, deadlineMs);
  const onAbort = () => controller.abort(new Error("The attempt was canceled."));
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
