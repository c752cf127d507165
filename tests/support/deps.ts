import { createAcceptor } from "#db/acceptor";
import { openDatabase } from "#db/client";
import { createWaker } from "#db/notify";
import type { PublicNames, RestDeps } from "#server/deps";
import { createOutside, type OutsideOptions } from "#server/egress/outside";
import { createLimits } from "#server/limits/limits";
import { type Log, silentLog } from "#server/log";
import { createAskDns } from "#server/mail/dns";
import { createRecipientTokens } from "#server/recipient-tokens";
import { createBodyRoom } from "#server/rest/body-room";
import { deriveKey } from "#server/secrets";
import { createAuthenticate } from "#server/services/keys/authenticate";
import { createRequestLog } from "#server/services/logs/record";
import { createSignedLinks } from "#server/signed-links";
import { createVault } from "#server/vault";

/** What the vault of these effects is made of, for processes that are to open what it sealed. */
export const installationSecret = "the secret of an installation in a test";

/** The public address in the links of these effects. */
export const installationUrl = "https://mail.example.com";

/** Real time, moved on by whoever tests: nothing that remembers the time stands still. */
export type TestClock = { now(): Date; advance(ms: number): void };

export function createClock(): TestClock {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    advance: (ms) => {
      aheadMs += ms;
    },
  };
}

export type DepsOptions = {
  clock?: TestClock;
  connectionsMax?: number;
  log?: Log;
  /** Default: machines of this test alone, `127.0.0.0/8`. */
  outside?: OutsideOptions;
  /** Default: `NO_DNS`. */
  dnsServers?: { host: string; port: number }[];
} & Partial<
  Pick<RestDeps, "transportKind" | "names" | "cronSecret" | "tick" | "bodyMaxBytes" | "trustedHops">
>;

/** A name server that is not there, which is found out at once: no test asks a stranger. */
export const NO_DNS = [{ host: "127.0.0.1", port: 9 }];

/** What an installation is called that was given no name. */
export const NO_NAMES: PublicNames = { mailHost: null, returnPathDomain: null, webHost: null };

/** The effects of one process over a database: all of them real, the limits counted in process by the test's clock. */
export function openDeps(url: string, options: DepsOptions = {}): { deps: RestDeps; close(): Promise<void> } {
  const { clock = createClock(), log = silentLog, bodyMaxBytes = 48 * 1024 * 1024 } = options;
  const database = openDatabase(url, { connectionsMax: options.connectionsMax ?? 8 });
  const limits = createLimits({
    store: { kind: "in-process" },
    clock: () => clock.now().getTime(),
    log,
  });
  const outside = createOutside(options.outside ?? { allow: ["127.0.0.0/8"] });
  const deps: RestDeps = {
    db: database.db,
    hot: database.hot,
    accept: createAcceptor(database.hot),
    transportKind: options.transportKind ?? "capture",
    outside,
    dns: createAskDns(options.dnsServers ?? NO_DNS),
    names: options.names ?? NO_NAMES,
    home: { url: installationUrl, sender: "posthorn@mail.example.com" },
    vault: createVault(installationSecret),
    recipientTokens: createRecipientTokens(installationSecret, installationUrl),
    links: createSignedLinks(installationSecret, installationUrl),
    clock: clock.now,
    log,
    wake: createWaker(database.hot),
    limits,
    authenticate: createAuthenticate(database.hot, clock.now, log),
    requestLog: createRequestLog({ hot: database.hot, log, clock: clock.now }),
    cronSecret: options.cronSecret ?? null,
    inboundToken: deriveKey(installationSecret, "inbound"),
    tick: options.tick ?? (async () => {}),
    bodyMaxBytes,
    bodyRoom: createBodyRoom(bodyMaxBytes),
    trustedHops: options.trustedHops ?? 0,
  };
  return {
    deps,
    close: async () => {
      await deps.requestLog.flush();
      await limits.close();
      await outside.close();
      await database.close();
    },
  };
}
