import { listenForChanges } from "#db/notify";
import { providerClients } from "#server/auth/providers";
import type { RestDeps } from "#server/deps";
import type { Listener } from "#server/mail/bounce/listener";
import type { Settings } from "#server/platform/env/settings";
import { errorFacts, type Log } from "#server/platform/log";
import { createFirstUserCode } from "#server/services/account/first-user";
import { findAllowedSessions } from "#server/services/live/allowed";
import { getMarks } from "#server/services/live/changes";
import { createLive } from "#server/services/live/watch";
import { listRelays, type RelayView } from "#server/services/relays/read";
import { refreshKeyring } from "#server/services/secrets/registry";
import { activateSecret, isActivationDue } from "#server/services/secrets/rotate";
import { buildDeps, type ConnectedSettings } from "./deps";
import { createConsoleDoctor } from "./doctor-deps";
import { createRestApi, type RestApi } from "./http/rest-endpoint";
import { admitWhenReachable } from "./install/admit-secrets";
import { resolveSecrets, type Secrets, seedInstallation } from "./install/installation";
import { migrationOf, prepareDatabase } from "./install/prepare-database";
import type { Login } from "./launcher/banner";
import { provideDeps } from "./next";
import { findClusterHome } from "./postgres/cluster-location";
import { openInbound } from "./smtp/inbound";
import { openSubmission, type Submission } from "./smtp/submission";
import { superviseWorker } from "./supervise";
import { openTelemetry } from "./telemetry/open";
import { type RunningWorker, runWorker } from "./worker";

/**
 * How often a web process reads which secret is active. It must be less than the time between activation and
 * first signature.
 */
const refreshSecretsMs = 30_000;

/** All parts that depend on the database. `stop` ends delivery, `close` closes the connections. */
export type Service = {
  /** `firstKeyToken` is the token of a valid key; null if none was created here. */
  secrets: Secrets;
  login: Login;
  relays: RelayView[];
  /** The ports at which programs submit email over SMTP. */
  submission: Pick<Submission, "port" | "securePort">;
  stop(): Promise<void>;
  close(): Promise<void>;
};

export type ServiceOptions = {
  settings: Settings;
  databaseUrl: string;
  log: Log;
  signal: AbortSignal;
  /**
   * Resolves when the other requirements of REST are ready. Called after the dependencies are provided to
   * Next.
   */
  before(): Promise<void>;
  /** Called once, as soon as REST can respond. */
  onRest(rest: RestApi): void;
};

/**
 * Migrates and seeds the database, opens REST and SMTP submission, listens for bounces, and starts delivery.
 * In `dev`, delivery runs in this process. In `start`, it runs in its own process, so it does not slow down
 * requests.
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { settings, databaseUrl, log } = options;
  const isEmbedded = settings.databaseUrl === null;
  const secrets = await resolveSecrets(settings, isEmbedded);
  const connected = { ...settings, databaseUrl, secret: secrets.secret, oldSecrets: secrets.oldSecrets };
  exportToEnvironment(connected);
  const telemetry = await openTelemetry(connected, { role: "web", log });
  const built = buildDeps(connected, {
    log,
    telemetry,
    applicationName: "backstamp web",
    ...(isEmbedded && { findDatabaseFolder: () => findClusterHome(settings.dataDir) }),
  });
  const listenFailed = (error: unknown) => log.warn("live.listen_failed", errorFacts(error));
  const live = createLive({
    // A page that reads its list again when a mark changed must find the change there.
    read: (teamId) => built.deps.replica.run(built.deps, (from) => getMarks(from, teamId)),
    findAllowed: (teamId, sessionIds) => findAllowedSessions(built.deps, teamId, sessionIds),
    log,
    listen: (onHint) => listenForChanges(built.database.hot, onHint, listenFailed),
  });
  let refreshing: NodeJS.Timeout | undefined;
  const close = async () => {
    clearInterval(refreshing);
    await built.close();
    await telemetry.close();
  };
  let worker: RunningWorker | undefined;
  let inbound: Listener | null = null;
  let submission: Submission | undefined;
  try {
    // A worker drains the queue, so a requested round of delivery only has to wake it.
    const rest = built.forRest({ tick: async () => built.deps.wake() });
    const providers = providerClients(settings);
    const examine = createConsoleDoctor(built.deps, settings);
    provideDeps(rest, {
      url: settings.url,
      examine,
      live,
      submissionPort: () => portOf(submission, settings),
      providers,
    });
    const before = options.before();
    // An external database can be unreachable for long. Health probes must get a response meanwhile.
    if (!isEmbedded) options.onRest(await before.then(() => createRestApi(rest)));
    const migration = migrationOf(settings, databaseUrl);
    await prepareDatabase(migration.url, log, options.signal, migration.options);
    await admitWhenReachable(built.deps, options.signal);
    // Nothing else uses an embedded database, so a secret that was generated or set since takes effect now.
    if (isEmbedded && (await isActivationDue(built.deps)))
      await activateSecret(built.deps, { isAlone: true });
    refreshing = setInterval(() => void refreshKeyring(built.deps).catch(() => {}), refreshSecretsMs).unref();
    worker =
      settings.mode === "dev"
        ? await runWorker(connected, { log, telemetry, isEmbedded })
        : superviseWorker(process.env, log, { isEmbedded });
    inbound = await openInbound(connected, built.deps);
    submission = await openSubmission(connected, rest);
    const firstKeyToken = await seedInstallation(rest, settings, secrets, { isEmbedded });
    const login = await loginOf(rest, settings, secrets);
    const relays = await listRelays(rest);
    await before;
    options.signal.throwIfAborted();
    if (isEmbedded) options.onRest(createRestApi(rest));
    await worker.started;
    const [running, listening, submitting] = [worker, inbound, submission];
    return {
      secrets: { ...secrets, firstKeyToken },
      login,
      relays,
      submission,
      stop: async () => {
        live.close();
        await Promise.all([running.stop(), listening?.close(), submitting.close()]);
      },
      close,
    };
  } catch (error) {
    await submission?.close();
    await inbound?.close();
    await worker?.stop();
    await close();
    throw error;
  }
}

/** The port for programs. Null until it is open, and without one. */
function portOf(opened: Submission | undefined, { submission: { certificateFiles } }: Settings) {
  const hasTls = certificateFiles !== null;
  if (opened?.securePort) return { port: opened.securePort, isImplicitTls: true, hasTls };
  return opened?.port ? { port: opened.port, isImplicitTls: false, hasTls } : null;
}

/** How the operator signs in. Called after the configured first user was created. */
async function loginOf(
  deps: RestDeps,
  { adminEmail: email, adminPassword: given }: Settings,
  { adminPassword }: Secrets,
): Promise<Login> {
  if (adminPassword !== null)
    return { kind: "password", email, password: given === null ? adminPassword : null };
  const code = await createFirstUserCode(deps);
  return code === null ? { kind: "users" } : { kind: "code", code };
}

/**
 * Next and the worker process read their settings from the environment, so generated values are added to it.
 */
function exportToEnvironment({
  databaseUrl,
  secret,
  oldSecrets,
  url,
  port,
  smtpUrl,
}: ConnectedSettings): void {
  Object.assign(process.env, {
    DATABASE_URL: databaseUrl,
    BACKSTAMP_SECRET: secret,
    BACKSTAMP_SECRETS_OLD: oldSecrets.length > 0 ? JSON.stringify(oldSecrets) : "",
    BACKSTAMP_URL: url,
    PORT: String(port),
    SMTP_URL: smtpUrl ?? "",
  });
}
