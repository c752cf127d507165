import { setPriority } from "node:os";

/** On the scale of nice(1). Under full load, such a process gets a third of the CPU share of a normal one. */
const niceness = 5;

/**
 * Lowers the CPU priority of a worker process: queued email can wait, API callers cannot. No effect on an
 * idle CPU. Threads started later inherit the priority.
 */
export function lowerPriority(): void {
  try {
    setPriority(niceness);
  } catch {
    // Where the platform does not permit it, the priority stays unchanged.
  }
}
