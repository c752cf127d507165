import { after } from "next/server";
import { providerClients } from "#server/auth/provider-clients";
import { readSettings } from "#server/env";
import { errorFacts } from "#server/log";
import { tick } from "#server/worker/tick";
import { buildDeps } from "./deps";
import { prepareFirstUser } from "./first-user";
import { hold } from "./next";
import { openTransport, timeoutsOf } from "./worker";

/** What a round of delivery may take inside a function, whose platform ends it at 60 s or later. */
const roundMs = 20_000;

/**
 * Composes the effects from the environment, for where Next runs alone: there a mail is delivered after the answer that
 * accepted it, and by whoever calls for a round.
 */
export async function provideOwnDeps(): Promise<void> {
  const settings = readSettings(process.env, process.env.VERCEL ? "vercel" : "start");
  const { databaseUrl, secret, url } = settings;
  if (databaseUrl === null || secret === null)
    throw new Error("Next alone needs DATABASE_URL and POSTHORN_SECRET; `npm start` makes both by itself.");
  const runRound = oneAtATime(async () => {
    await tick({ ...built.deps, transport, relayTimeouts }, { budgetMs: roundMs }).catch((error) =>
      built.deps.log.error("tick.failed", errorFacts(error)),
    );
  });
  const built = buildDeps(
    { ...settings, databaseUrl },
    { applicationName: "posthorn next", wake: () => after(runRound), later: (task) => after(task) },
  );
  const transport = openTransport(settings, built.deps);
  const relayTimeouts = timeoutsOf(settings);
  const prepare = onceUntilItFails(() => prepareFirstUser(built.deps, settings));
  const given = { url, secret, providers: providerClients(settings), prepareFirstUser: prepare };
  hold(built.forRest({ tick: runRound }), given, null);
}

function onceUntilItFails(run: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null;
  return () => {
    done ??= run().catch((error) => {
      done = null;
      throw error;
    });
    return done;
  };
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
