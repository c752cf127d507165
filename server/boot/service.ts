import { providerClients } from "#server/auth/provider-clients";
import type { RestDeps } from "#server/deps";
import type { Settings } from "#server/env";
import type { Log } from "#server/log";
import type { Listener } from "#server/mail/bounce/listener";
import { makeFirstUserCode } from "#server/services/first-user";
import type { Login } from "./banner";
import { buildDeps, type ConnectedSettings } from "./deps";
import { openInbound } from "./inbound";
import { type Secrets, seedInstallation, settleSecrets } from "./installation";
import { provideDeps } from "./next";
import type { RestDoor } from "./node";
import { prepareDatabase } from "./prepare";
import { restDoorOf } from "./rest-door";
import { superviseWorker } from "./supervise";
import { type RunningWorker, runWorker } from "./worker";

/** Everything that stands on the database. `stop` ends delivery, `close` lets go of the connections. */
export type Service = {
  /** In them the token of a key that works; null where none was made here. */
  secrets: Secrets;
  login: Login;
  stop(): Promise<void>;
  close(): Promise<void>;
};

export type ServiceOptions = {
  settings: Settings;
  databaseUrl: string;
  log: Log;
  signal: AbortSignal;
  /** What else has to be ready before REST answers. Called when the effects that Next shares with us are in place. */
  before(): Promise<void>;
  /** Called once, as soon as REST can answer anything at all. */
  onRest(rest: RestDoor): void;
};

/**
 * Migrates the database, fills an empty one, opens REST, listens for what comes back, and starts delivery: in this process
 * for `dev`, in one of its own for `start`, where it would take from the requests' time.
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { settings, databaseUrl, log } = options;
  const isEmbedded = settings.databaseUrl === null;
  const secrets = await settleSecrets(settings, isEmbedded);
  const connected = { ...settings, databaseUrl, secret: secrets.secret };
  tellEnvironment(connected);
  const built = buildDeps(connected, { log, applicationName: "posthorn web" });
  let worker: RunningWorker | undefined;
  let inbound: Listener | null = null;
  try {
    // A worker drains the queue beside us, so a round of delivery that is asked for is only a matter of rousing it.
    const rest = built.forRest({ tick: async () => built.deps.wake() });
    const providers = providerClients(settings);
    provideDeps(rest, { url: settings.url, secret: secrets.secret, providers });
    const before = options.before();
    // A database of somebody else's may be away for long, and meanwhile probes want to hear so.
    if (!isEmbedded) options.onRest(await before.then(() => restDoorOf(rest)));
    await prepareDatabase(databaseUrl, log, options.signal);
    worker =
      settings.mode === "dev" ? await runWorker(connected, { log }) : superviseWorker(process.env, log);
    inbound = await openInbound(connected, built.deps);
    const firstKeyToken = await seedInstallation(rest, settings, secrets, { isEmbedded });
    const login = await loginOf(rest, settings, secrets);
    await before;
    options.signal.throwIfAborted();
    if (isEmbedded) options.onRest(restDoorOf(rest));
    await worker.started;
    const [running, listening] = [worker, inbound];
    return {
      secrets: { ...secrets, firstKeyToken },
      login,
      stop: async () => {
        await Promise.all([running.stop(), listening?.close()]);
      },
      close: () => built.close(),
    };
  } catch (error) {
    await inbound?.close();
    await worker?.stop();
    await built.close();
    throw error;
  }
}

/** How somebody gets in, now that whoever was given is in the database. */
async function loginOf(
  deps: RestDeps,
  { adminEmail: email, adminPassword: given }: Settings,
  { adminPassword }: Secrets,
): Promise<Login> {
  if (adminPassword !== null)
    return { kind: "password", email, password: given === null ? adminPassword : null };
  const code = await makeFirstUserCode(deps);
  return code === null ? { kind: "users" } : { kind: "code", code };
}

/** Next and the worker process read their settings from the environment, where the database may be one of ours. */
function tellEnvironment({ databaseUrl, secret, url, port, smtpUrl }: ConnectedSettings): void {
  Object.assign(process.env, {
    DATABASE_URL: databaseUrl,
    POSTHORN_SECRET: secret,
    POSTHORN_URL: url,
    PORT: String(port),
    SMTP_URL: smtpUrl ?? "",
  });
}
