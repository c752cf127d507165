/**
 * Runs once before Next.js serves requests. Creates the dependencies, unless a launcher has already provided
 * them. Invalid settings are logged, and reported by every page and by the REST API.
 */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs" || process.env.NEXT_PHASE === "phase-production-build") return;
  const { hasConsoleDeps } = await import("#server/auth/deps");
  if (hasConsoleDeps()) return;
  const { provideOwnDeps } = await import("#server/startup/next-alone");
  await provideOwnDeps();
}

/** Logs a page that failed to render. The page itself shows only the digest. */
export async function onRequestError(error: unknown): Promise<void> {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { hasConsoleDeps, getConsoleDeps } = await import("#server/auth/deps");
  if (!hasConsoleDeps()) return;
  const { errorFacts } = await import("#server/platform/log");
  const digest = error instanceof Error && "digest" in error ? error.digest : undefined;
  getConsoleDeps().log.error("page.failed", { digest, ...errorFacts(error) });
}
