import type { Db, HotSql } from "#db/client";
import type { QueryDns } from "#server/mail/dns/dns";
import type { ConvertToText } from "#server/mail/mime/html-text";
import type { Relay } from "#server/mail/transport/relay";
import type { RelayTimeouts } from "#server/mail/transport/smtp/timeouts";
import type { Transport } from "#server/mail/transport/transport";
import type { Replica } from "#server/platform/database/replica";
import type { DiskSpace } from "#server/platform/disk";
import type { Outside } from "#server/platform/egress/outside";
import type { Settings } from "#server/platform/env/settings";
import type { BodyBudget, BodyReservation } from "#server/platform/limits/body-budget";
import type { Limits } from "#server/platform/limits/limits";
import type { Log } from "#server/platform/log";
import type { Keyring } from "#server/platform/secrets/keyring";
import type { RecipientTokens } from "#server/platform/secrets/recipient-tokens";
import type { SignedLinks } from "#server/platform/secrets/signed-links";
import type { Vault } from "#server/platform/secrets/vault";
import type { Tracer } from "#server/platform/telemetry/otel";
import type { Metrics } from "#server/platform/telemetry/prometheus";
import type { Threads } from "#server/platform/threads";
import type { FindServedHost } from "#server/services/domains/served-hosts";
import type { Accept } from "#server/services/emails/accept/acceptor";
import type { Authenticate } from "#server/services/keys/authenticate";
import type { SenderDomain } from "#server/services/keys/cache";
import type { RequestLog } from "#server/services/logs/record";
import type { Readiness } from "#server/services/readiness";

/** All side effects available to the server's modules. Only `server/startup` builds them. */
export type Deps = {
  db: Db;
  hot: HotSql;
  /** The read replica for lists of emails and of requests. */
  replica: Replica;
  /** Commits the emails of a request. Concurrent callers share one statement. */
  accept: Accept;
  /**
   * How email to real recipients is sent. Decides what the built-in domain may send, and the readiness
   * result.
   */
  transportKind: "relay" | "direct" | "capture" | "none";
  /** The guarded client for URLs and hosts that teams configure. All such connections use it. */
  outside: Outside;
  /** Queries the name servers of the installation. */
  dns: QueryDns;
  /** One client for each of these name servers, for decisions that must not depend on a single response. */
  resolvers: () => QueryDns[];
  /** Read bytes of strangers beside the thread that serves everybody. */
  threads: Threads;
  /** Renders the text part of an email that has only HTML. */
  convertToText: ConvertToText;
  names: PublicNames;
  home: Home;
  /** The secrets of the installation: which one seals and signs, and which ones open and verify. */
  keyring: Keyring;
  /** Encrypts the secrets that must be read again. */
  vault: Vault;
  /** Creates and verifies signed links that give access without a key. */
  links: SignedLinks;
  /**
   * Creates and verifies the tokens in one recipient's copy of an email: unsubscribe, tracking and return
   * path.
   */
  recipientTokens: RecipientTokens;
  /** Reads the space of the disk with the embedded database. Absent if the database is elsewhere. */
  readDisk?: () => Promise<DiskSpace>;
  /** Why the store that all processes count rate limits in cannot be used; null if it can, or none is set. */
  checkLimitStore: () => Promise<string | null>;
  clock: () => Date;
  /** The clock of this machine in ms since the epoch, which is compared with that of the database. */
  machineClock: () => number;
  log: Log;
  /** Counts for the monitoring system; null while metrics are off. */
  metrics: Metrics | null;
  /** Records traces; null while they are off. */
  tracer: Tracer | null;
  /** False where many instances of a function each count rate limits by themselves. */
  hasSharedLimits: boolean;
  /** What services read of the operator's settings. */
  policy: Settings["policy"];
  /**
   * Wakes the workers because a delivery became due. Cheap to call often. A lost call costs one poll
   * interval.
   */
  wake: () => void;
  /** Clears this process's key cache. Call it after a change of a key, its links or a domain is committed. */
  clearKeyCache: () => void;
};

/**
 * Public host names of this installation. Null where the operator configured none; no default is ever used.
 */
export type PublicNames = {
  /** Host name of the machine that sends and receives email. */
  mailHost: string | null;
  /** Domain of the return paths, used instead of a name below the sender's domain. */
  returnPathDomain: string | null;
  /** Host name of the web site. */
  webHost: string | null;
};

/** The installation's URL and sender, as used in system emails. */
export type Home = {
  /** The public origin, without a trailing slash. All links are built from it. */
  url: string;
  /** The sender, with or without a display name. */
  sender: string;
};

/** Dependencies of the REST API, in addition to those of the services. */
export type RestDeps = Deps & {
  limits: Limits;
  authenticate: Authenticate;
  findServedHost: FindServedHost;
  /** Records recent API requests for the request log. */
  requestLog: RequestLog;
  /** Token of the operator's routes. Null: the routes do not exist. */
  cronSecret: string | null;
  /** Token of the metrics route. Null: metrics are off. */
  metricsToken: string | null;
  /** The metrics of this process and of the installation, as text. */
  renderMetrics: () => Promise<string>;
  /** Readiness for the public endpoint; calls share a reading. */
  getReadiness: (deps: Deps) => Promise<Readiness>;
  /** Token of the route that receives bounces and complaints. Null: the route rejects every request. */
  inboundToken: string | null;
  /** The tokens of former secrets, which the same route accepts. */
  formerInboundTokens: readonly string[];
  /** Runs one bounded round of delivery, for installations without a worker process. */
  tick: () => Promise<void>;
  /** Largest request body in bytes. */
  bodyMaxBytes: number;
  /** Memory budget for large bodies, shared by all requests. */
  bodies: BodyBudget;
  /** Number of reverse proxies whose X-Forwarded-For entries are trusted. */
  trustedHops: number;
};

/**
 * Dependencies of the delivery worker. Without a transport or a relay, email to real recipients stays queued.
 */
export type WorkerDeps = Deps & {
  transport: Transport | Relay | null;
  /** Timeouts in ms of relays configured in the database, where they differ from the defaults. */
  relayTimeouts?: Partial<RelayTimeouts>;
};

/**
 * Who acts: a program with an API key, a user with a session, the operator on the command line, or the
 * service itself.
 */
export type Actor =
  | {
      kind: "key";
      keyId: string;
      scopes: readonly string[];
      domains: readonly SenderDomain[];
      allDomains: boolean;
    }
  | { kind: "user"; userId: string }
  | { kind: "operator" }
  | { kind: "system" };

/** First argument of every service. */
export type Ctx = Deps & {
  teamId: string;
  actor: Actor;
  requestId: string;
  /** The `traceparent` of the request's span; absent while traces are off. */
  traceparent?: string;
  /**
   * The request's share of the memory budget for large bodies. Absent where there is no request with a body.
   */
  claim?: BodyReservation;
};
