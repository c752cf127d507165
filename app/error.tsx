"use client";

/** Shown when a page fails to render. The log has the cause under the same digest. */
export default function PageError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-3 px-6" role="alert">
      <h1 className="font-semibold text-xl">This page could not be loaded</h1>
      <p className="text-soft">
        No changes were made. Try again. If the error persists, send this code to the operator.
      </p>
      {error.digest ? <code className="select-all font-mono text-soft text-xs">{error.digest}</code> : null}
      <button
        type="button"
        onClick={reset}
        className="self-start text-accent underline underline-offset-4 hover:text-accent-strong"
      >
        Try again
      </button>
    </main>
  );
}
