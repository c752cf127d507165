import { createAcceptor } from "#db/acceptor";
import { type Database, openDatabase } from "#db/client";
import { createWaker } from "#db/notify";
import type { Deps, PublicNames, RestDeps } from "#server/deps";
import { createOutside } from "#server/egress/outside";
import type { Settings } from "#server/env";
import { createLimits, type Limits } from "#server/limits/limits";
import { createLog, errorFacts, type Log } from "#server/log";
import { readDomainName } from "#server/mail/address";
import { createAskDns } from "#server/mail/dns";
import { createRecipientTokens, type RecipientTokens } from "#server/recipient-tokens";
import { createBodyRoom } from "#server/rest/body-room";
import { deriveKey } from "#server/secrets";
import { createAuthenticate } from "#server/services/keys/authenticate";
import { createRequestLog, type Later, type RequestLog } from "#server/services/logs/record";
import { createSignedLinks, type SignedLinks } from "#server/signed-links";
import { createVault, type Vault } from "#server/vault";
import { Refusal } from "./refusal";

/** Settings of a process that knows its database, be it configured or embedded. */
export type ConnectedSettings = Settings & { databaseUrl: string };

export type BuildOptions = {
  /** Default: one JSON object a line on standard output. */
  log?: Log;
  /** What the database shows as the owner of our connections. */
  applicationName?: string;
  /** Connections at most. */
  connectionsMax?: number;
  /** Replaces the NOTIFY, where no worker listens. */
  wake?: () => void;
  /** Replaces a timer, where nothing runs once a request is answered. */
  later?: Later;
};

/** The effects of one process. `forRest` opens what only that door needs; `close` lets go of all of it. */
export type Built = {
  deps: Deps;
  database: Database;
  /** `tick` is one bounded round of delivery, for whoever calls it from outside. */
  forRest(options: { tick: () => Promise<void> }): RestDeps;
  close(): Promise<void>;
};

/** Composes the effects of a Node process. Nothing is connected before it is needed, so this fails only by a bug. */
export function buildDeps(settings: ConnectedSettings, options: BuildOptions = {}): Built {
  const clock = () => new Date();
  const log = options.log ?? createLog((line) => process.stdout.write(`${line}\n`), clock);
  const database = openDatabase(settings.databaseUrl, {
    pooled: settings.isDatabasePooled,
    ...(options.applicationName === undefined ? {} : { applicationName: options.applicationName }),
    ...(options.connectionsMax === undefined ? {} : { connectionsMax: options.connectionsMax }),
  });
  const outside = createOutside({ allow: settings.egressAllow, nameServers: settings.dnsServers });
  const notifyFailed = (error: unknown) => log.warn("due.notify_failed", errorFacts(error));
  const deps: Deps = {
    db: database.db,
    hot: database.hot,
    accept: createAcceptor(database.hot),
    transportKind: transportKindOf(settings.smtpUrl),
    outside,
    dns: createAskDns(settings.dnsServers),
    names: namesOf(settings),
    home: { url: settings.url, sender: settings.systemFrom },
    vault: settings.secret === null ? lockedVault : createVault(settings.secret),
    recipientTokens:
      settings.secret === null ? lockedTokens : createRecipientTokens(settings.secret, settings.url),
    links: settings.secret === null ? lockedLinks : createSignedLinks(settings.secret, settings.url),
    clock,
    log,
    wake: options.wake ?? createWaker(database.hot, notifyFailed),
  };
  const bodyRoom = createBodyRoom(settings.bodyMaxBytes);
  let limits: Limits | undefined;
  let requestLog: RequestLog | undefined;
  return {
    deps,
    database,
    forRest: ({ tick }) => {
      limits ??= createLimits({ store: settings.limitStore, clock: Date.now, log });
      requestLog ??= createRequestLog(deps, options.later);
      return {
        ...deps,
        limits,
        requestLog,
        authenticate: createAuthenticate(database.hot, clock, log),
        cronSecret: settings.cronSecret,
        inboundToken: settings.secret === null ? null : deriveKey(settings.secret, "inbound"),
        tick,
        bodyMaxBytes: settings.bodyMaxBytes,
        bodyRoom,
        trustedHops: settings.trustedHops,
      };
    },
    close: async () => {
      await requestLog?.flush();
      await limits?.close();
      await outside.close();
      await database.close();
    },
  };
}

/** Where the secret is not known nothing can be sealed or signed, and whoever tries is told what is missing. */
const lockedVault: Vault = {
  seal: () => refuseSecret(),
  open: () => refuseSecret(),
};
const lockedLinks: SignedLinks = {
  make: () => refuseSecret(),
  open: () => refuseSecret(),
};

const lockedTokens: RecipientTokens = {
  origin: "",
  unsubscribeLink: () => refuseSecret(),
  openLink: () => refuseSecret(),
  openOpen: () => refuseSecret(),
  clickLink: () => refuseSecret(),
  openClick: () => refuseSecret(),
  openUnsubscribe: () => refuseSecret(),
  returnPath: () => refuseSecret(),
  openReturnPath: () => refuseSecret(),
};

function refuseSecret(): never {
  throw new Refusal(
    "POSTHORN_SECRET: It is missing here, and this needs it. Give the one that the installation runs with.",
  );
}

function namesOf({ mailHost, returnPathDomain, url }: Settings): PublicNames {
  const web = readDomainName(new URL(url).hostname);
  return { mailHost, returnPathDomain, webHost: web.ok ? web.domain : null };
}

function transportKindOf(smtpUrl: string | null): Deps["transportKind"] {
  if (smtpUrl === null) return "none";
  if (smtpUrl === "capture:") return "capture";
  return smtpUrl === "direct:" ? "direct" : "relay";
}
