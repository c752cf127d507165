/** Runs once before Next answers anything: composes the effects where no launcher has left its own. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs" || process.env.NEXT_PHASE === "phase-production-build") return;
  const { areDepsHeld } = await import("#server/console-deps");
  if (areDepsHeld()) return;
  const { provideOwnDeps } = await import("#server/boot/next-alone");
  await provideOwnDeps();
}

/** A page that could not be rendered shows only a digest; the log has what lies behind it. */
export async function onRequestError(error: unknown): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { areDepsHeld, heldDeps } = await import("#server/console-deps");
  if (!areDepsHeld()) return;
  const { errorFacts } = await import("#server/log");
  const digest = error instanceof Error && "digest" in error ? error.digest : undefined;
  heldDeps().log.error("page.failed", { digest, ...errorFacts(error) });
}
