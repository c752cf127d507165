import type { IncomingMessage } from "node:http";
import { areDepsHeld, heldDeps, holdDeps } from "#server/console-deps";
import type { RestDeps } from "#server/deps";
import { readSettings } from "#server/env";
import { createInProcessStore } from "#server/limits/in-process";
import { errorFacts } from "#server/log";
import { deriveKey } from "#server/secrets";
import { tick } from "#server/worker/tick";
import { buildDeps } from "./deps";
import { openTransport } from "./worker";

const PEER_HEADER = "x-posthorn-peer";
/** What a round of delivery may take inside a function, whose platform ends it at 60 s or later. */
const roundMs = 20_000;

/** The effects of this process, for Next's route files. Throws before they were provided. */
export const getDeps = heldDeps;

/**
 * Hands the launcher's effects to Next, which runs in the same process but loads code of its own. To be called before
 * Next answers its first request. `url` is the public origin, `secret` the installation's.
 */
export function provideDeps(rest: RestDeps, given: { url: string; secret: string }): void {
  hold(rest, given, PEER_HEADER);
}

/**
 * Writes the address at the other end of the socket where Next's handlers find it, over whatever the client put there.
 * To be called for every request that goes to Next.
 */
export function markPeer(incoming: IncomingMessage): void {
  incoming.headers[PEER_HEADER] = incoming.socket.remoteAddress ?? "";
}

/**
 * Composes the effects from the environment, for where Next runs alone: there a mail is delivered after the answer that
 * accepted it, and by whoever calls for a round. Does nothing where a launcher has provided them.
 */
export async function provideOwnDeps(): Promise<void> {
  if (areDepsHeld()) return;
  const settings = readSettings(process.env, process.env.VERCEL ? "vercel" : "start");
  const { databaseUrl, secret, url } = settings;
  if (databaseUrl === null || secret === null)
    throw new Error("Next alone needs DATABASE_URL and POSTHORN_SECRET; `npm start` makes both by itself.");
  const { after } = await import("next/server");
  const runRound = oneAtATime(async () => {
    await tick({ ...built.deps, transport }, { budgetMs: roundMs }).catch((error) =>
      built.deps.log.error("tick.failed", errorFacts(error)),
    );
  });
  const built = buildDeps(
    { ...settings, databaseUrl },
    { applicationName: "posthorn next", wake: () => after(runRound) },
  );
  const transport = openTransport(settings, built.deps.hot);
  hold(built.forRest({ tick: runRound }), { url, secret }, null);
}

function hold(rest: RestDeps, given: { url: string; secret: string }, peerHeader: string | null): void {
  // next-auth takes its own address from here, and from a header that clients write where this is missing.
  process.env.NEXTAUTH_URL = given.url;
  holdDeps({
    ...rest,
    url: given.url,
    authSecret: deriveKey(given.secret, "next-auth"),
    signInTries: createInProcessStore(() => rest.clock().getTime()),
    peerHeader,
  });
}

/** While it runs, further calls wait for one more run, which sees what the first one came too early for. */
function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = () => {
    running = run().finally(() => {
      running = null;
    });
    return running;
  };
  return () => {
    if (!running) return start();
    next ??= running.then(() => {
      next = null;
      return start();
    });
    return next;
  };
}
