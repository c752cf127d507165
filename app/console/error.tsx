"use client";

/** A console page that could not be made; the frame around it stays. */
export default function ConsoleError({
  error,
  reset,
}: {
  error: Error & { digest?: string };
  reset: () => void;
}) {
  return (
    <div className="flex flex-col items-start gap-3 py-10" role="alert">
      <h1 className="font-semibold text-base">This page could not be made</h1>
      <p className="text-soft">Nothing was changed. Try again; if it stays, tell the operator this number.</p>
      {error.digest ? <code className="select-all font-mono text-soft text-xs">{error.digest}</code> : null}
      <button
        type="button"
        onClick={reset}
        className="text-accent underline underline-offset-4 hover:text-accent-strong"
      >
        Try again
      </button>
    </div>
  );
}
