"use client";

/** Shown where a page could not be made. The digest stands in the log beside the cause. */
export default function PageError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-3 px-6" role="alert">
      <h1 className="font-semibold text-xl">This page could not be made</h1>
      <p className="text-soft">Nothing was changed. Try again; if it stays, tell the operator this number.</p>
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
