/** Within this time a repeated signal is the same Ctrl-C: the terminal sends it to everybody, and npm and tsx pass it on. */
const sameMs = 1_000;

/**
 * Calls `first` at the first SIGINT, SIGTERM or SIGHUP, and `again` at one that comes later, from somebody who will not
 * wait.
 */
export function onStopSignals(on: {
  first(signal: NodeJS.Signals): Promise<void>;
  again(): Promise<void>;
}): void {
  let firstMs: number | undefined;
  const hear = (signal: NodeJS.Signals): void => {
    if (firstMs === undefined) {
      firstMs = performance.now();
      void on.first(signal);
    } else if (performance.now() - firstMs > sameMs) {
      void on.again();
    }
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, hear);
}
