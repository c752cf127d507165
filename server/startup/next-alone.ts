import { after } from "next/server";
import { withinMs } from "#db/gate";
import { provideSettingFaults } from "#server/auth/deps";
import { providerClients } from "#server/auth/providers";
import { tick } from "#server/delivery/tick";
import { readSettings, SettingsError } from "#server/platform/env/settings";
import { errorFacts, type Log } from "#server/platform/log";
import { createProcessLog } from "#server/platform/process-log";
import { SecretRejectedError } from "#server/platform/secrets/keyring";
import { LIMITS_NOT_SHARED } from "#server/services/health";
import { admitKeyring } from "#server/services/secrets/registry";
import { buildDeps, type ConnectedSettings } from "./deps";
import { createConsoleDoctor } from "./doctor-deps";
import { answerInFrontOfNext } from "./http/in-front-of-next";
import { createRestApi } from "./http/rest-endpoint";
import { admitWhenReachable } from "./install/admit-secrets";
import { prepareFirstUser } from "./install/seed";
import { provideDeps } from "./next";
import { openTelemetry, type Telemetry } from "./telemetry/open";
import { openTransport } from "./worker";

/** A function must not wait long for its first response. */
const checkMsMax = 2_000;

/** Time budget of a delivery round inside a function. The platform ends the function after 60 s or more. */
const roundMs = 20_000;

/**
 * Builds the dependencies from the environment where Next runs without the launcher. Emails are then
 * delivered after the response that accepted them, and by calls of the cron route. Invalid settings are
 * logged and provided, so that each page and each response of the REST API names them. Throws every other
 * error.
 */
export async function provideOwnDeps(): Promise<void> {
  const log = createProcessLog();
  try {
    const settings = readOwnSettings();
    await provideDepsOf(settings, log, await openTelemetry(settings, { role: "web", log, canFreeze: true }));
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    log.error("settings.invalid", { faults: error.faults });
    provideSettingFaults(error.faults);
  }
}

function readOwnSettings(): ConnectedSettings & { secret: string } {
  const settings = readSettings(process.env, process.env.VERCEL ? "vercel" : "start");
  const { databaseUrl, secret } = settings;
  if (databaseUrl !== null && secret !== null) return { ...settings, databaseUrl, secret };
  const reason = "Required where Next runs without the launcher. Set it, or use `npm start`.";
  const missing = { DATABASE_URL: databaseUrl, BACKSTAMP_SECRET: secret };
  throw new SettingsError(
    Object.entries(missing).flatMap(([name, value]) => (value === null ? [{ name, reason }] : [])),
  );
}

async function provideDepsOf(
  settings: ConnectedSettings & { secret: string },
  log: Log,
  telemetry: Telemetry,
): Promise<void> {
  const runRound = oneAtATime(async () => {
    try {
      await tick({ ...built.deps, transport, relayTimeouts: settings.smtpTimeLimits }, { budgetMs: roundMs });
    } catch (error) {
      built.deps.log.error("tick.failed", errorFacts(error));
      throw error;
    }
  });
  const built = buildDeps(settings, {
    log,
    telemetry,
    applicationName: "backstamp next",
    // A failed round is logged. What it did not deliver is due for the next one.
    wake: () =>
      after(() =>
        runRound()
          .catch(() => {})
          .then(telemetry.flush),
      ),
    later: (task) => after(task),
    canFreeze: true,
  });
  if (!built.deps.hasSharedLimits)
    built.deps.log.warn("limits.per_instance", { message: LIMITS_NOT_SHARED.message });
  const transport = openTransport(settings, built.deps);
  const prepare = onceUntilItFails(() => prepareFirstUser(built.deps, settings));
  try {
    await withinMs(checkMsMax, admitKeyring(built.deps));
  } catch (error) {
    if (error instanceof SecretRejectedError)
      throw new SettingsError([{ name: "BACKSTAMP_SECRET", reason: error.message }]);
    built.deps.log.warn("secret.check_waits", errorFacts(error));
    // Until it succeeds, requests that encrypt are responded to with 503.
    void admitWhenReachable(built.deps).catch((error) =>
      built.deps.log.error("secret.rejected", errorFacts(error)),
    );
  }
  const { url } = settings;
  const examine = createConsoleDoctor(built.deps, settings);
  const given = { url, examine, providers: providerClients(settings), prepareFirstUser: prepare };
  const rest = built.forRest({ tick: runRound });
  answerInFrontOfNext(Promise.resolve(createRestApi(rest)));
  provideDeps(rest, given, null);
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

/**
 * Runs one call at a time. Calls during a run share one further run, which processes what the current run
 * missed.
 */
function oneAtATime(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = () => {
    running = run().finally(() => {
      running = null;
    });
    return running;
  };
  const startNext = () => {
    next = null;
    return start();
  };
  return () => {
    if (!running) return start();
    next ??= running.then(startNext, startNext);
    return next;
  };
}
