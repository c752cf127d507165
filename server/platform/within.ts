/**
 * Resolves with the promise's value. Rejects after `ms` with what `fault` returns, or with the signal's
 * reason. The operation itself continues.
 */
export async function within<T>(
  promise: PromiseLike<T>,
  { ms, fault, signal }: { ms?: number; fault?: () => Error; signal?: AbortSignal },
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stop = () => {};
  const late = new Promise<never>((_, reject) => {
    // A busy process runs timers before it reads sockets. setImmediate accepts a value that has already
    // arrived.
    if (ms !== undefined) timer = setTimeout(() => setImmediate(() => reject(fault?.())), ms);
    stop = () => reject(signal?.reason);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
