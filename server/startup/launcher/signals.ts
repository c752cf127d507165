/**
 * Signals within this time belong to one Ctrl-C: the terminal signals the whole group, and npm and tsx
 * forward it.
 */
const sameMs = 1_000;
const parentPollMs = 500;

/**
 * Calls `first` on the first SIGINT, SIGTERM or SIGHUP, and `again` on each later one, to stop immediately.
 */
export function onStopSignals(on: {
  first(signal: NodeJS.Signals): Promise<void>;
  again(): Promise<void>;
}): void {
  let firstMs: number | undefined;
  const handle = (signal: NodeJS.Signals): void => {
    if (firstMs === undefined) {
      firstMs = performance.now();
      void on.first(signal);
    } else if (performance.now() - firstMs > sameMs) {
      void on.again();
    }
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, handle);
}

/**
 * Calls `gone` once when the package manager that started this process has exited. Some of them exit on a
 * signal without forwarding it. Does nothing if no package manager started this process.
 */
export function onPackageManagerGone(gone: () => void): void {
  // npm, pnpm and yarn set this for a script, which replaces its shell by this process.
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    gone();
  }, parentPollMs).unref();
}
