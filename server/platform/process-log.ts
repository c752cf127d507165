import { createLog, type Log } from "./log";
import { mergeRepeatedFaults } from "./repeated-faults";

const flushes = new Set<() => void>();

/**
 * The log of a process: one JSON object per line on standard output. Repeated faults are merged, and their
 * last counts are written when the process exits.
 */
export function createProcessLog(write: (text: string) => void = (text) => process.stdout.write(text)): Log {
  const log = mergeRepeatedFaults(
    createLog(
      (line) => write(`${line}\n`),
      () => new Date(),
    ),
  );
  if (flushes.size === 0) process.on("exit", flushAll);
  flushes.add(log.flush);
  return log;
}

function flushAll(): void {
  for (const flush of flushes) flush();
}
