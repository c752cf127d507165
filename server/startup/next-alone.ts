import { after } from "next/server";
import { providerClients } from "#server/auth/providers";
import { tick } from "#server/delivery/tick";
import { readSettings } from "#server/platform/env/settings";
import { errorFacts } from "#server/platform/log";
import { buildDeps } from "./deps";
import { prepareFirstUser } from "./install/seed";
import { provideDeps } from "./next";
import { openTransport, timeoutsOf } from "./worker";

/** Time budget of a delivery round inside a function. The platform ends the function after 60 s or more. */
const roundMs = 20_000;

/**
 * Builds the dependencies from the environment where Next runs without the launcher. Emails are then delivered after the
 * response that accepted them, and by calls of the cron route.
 */
export async function provideOwnDeps(): Promise<void> {
  const settings = readSettings(process.env, process.env.VERCEL ? "vercel" : "start");
  const { databaseUrl, secret, url } = settings;
  if (databaseUrl === null || secret === null)
    throw new Error(
      "Without the launcher, Next requires DATABASE_URL and BACKSTAMP_SECRET. Set both, or use `npm start`.",
    );
  const runRound = oneAtATime(async () => {
    await tick({ ...built.deps, transport, relayTimeouts }, { budgetMs: roundMs }).catch((error) =>
      built.deps.log.error("tick.failed", errorFacts(error)),
    );
  });
  const built = buildDeps(
    { ...settings, databaseUrl },
    {
      applicationName: "backstamp next",
      wake: () => after(runRound),
      later: (task) => after(task),
      canFreeze: true,
    },
  );
  const transport = openTransport(settings, built.deps);
  const relayTimeouts = timeoutsOf(settings);
  const prepare = onceUntilItFails(() => prepareFirstUser(built.deps, settings));
  const given = { url, secret, providers: providerClients(settings), prepareFirstUser: prepare };
  provideDeps(built.forRest({ tick: runRound }), given, null);
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

/** Runs one call at a time. Calls during a run share one further run, which processes what the current run missed. */
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
