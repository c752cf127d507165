import { setPriority } from "node:os";

/** On the scale of nice(1). A third of the share that a process of ordinary rank gets where both want all there is. */
const rank = 5;

/**
 * Gives others the right of way to the processors, for a process that delivers: queued mail can wait a moment, a caller who
 * hands one in cannot. Where processors are idle it changes nothing. Threads that begin later have the same rank.
 */
export function stepBack(): void {
  try {
    setPriority(rank);
  } catch {
    // A platform that does not allow it delivers at the rank it has.
  }
}
