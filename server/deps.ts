import type { Accept } from "#db/acceptor";
import type { Db, HotSql } from "#db/client";
import type { Outside } from "#server/egress/outside";
import type { Limits } from "#server/limits/limits";
import type { AskDns } from "#server/mail/dns";
import type { RelayTimeouts } from "#server/mail/transport/timeouts";
import type { Transport } from "#server/mail/transport/transport";
import type { BodyRoom } from "#server/rest/body-room";
import type { Authenticate } from "#server/services/keys/authenticate";
import type { RequestLog } from "#server/services/logs/record";
import type { Log } from "./log";
import type { RecipientTokens } from "./recipient-tokens";
import type { SignedLinks } from "./signed-links";
import type { Vault } from "./vault";

/** Every effect that the rooms may have. Built in `server/boot` alone; nothing else reaches for one. */
export type Deps = {
  db: Db;
  hot: HotSql;
  /** Commits what a request brings; callers that wait at the same moment share a statement. */
  accept: Accept;
  /** Where mail for real recipients goes: decides what the built-in domain may send, and what readiness says. */
  transportKind: "relay" | "direct" | "capture" | "none";
  /** The guarded way to addresses that somebody else chose; there is no other. */
  outside: Outside;
  /** Asks the name servers of the installation. */
  dns: AskDns;
  names: PublicNames;
  home: Home;
  /** Seals the secrets that must be read again. */
  vault: Vault;
  /** Makes links that open something without a key, and tells which ones still do. */
  links: SignedLinks;
  /** Makes what one recipient's copy of a mail carries, to unsubscribe and to come back by. */
  recipientTokens: RecipientTokens;
  clock: () => Date;
  log: Log;
  /** Says that something became due. Cheap to call often; losing one only costs the poll interval. */
  wake: () => void;
};

/** Names under which others find this installation: null where the operator gave none, for none is ever guessed. */
export type PublicNames = {
  /** Of the machine that sends and receives mail. */
  mailHost: string | null;
  /** Where bounces come back to, in place of a name below the sender's domain. */
  returnPathDomain: string | null;
  /** Of the web site. */
  webHost: string | null;
};

/** What Posthorn says of itself in its own mail. */
export type Home = {
  /** The public origin, without a slash at the end: links are built from it alone. */
  url: string;
  /** The sender, with or without a display name. */
  sender: string;
};

/** What the REST door needs beside the services' effects. */
export type RestDeps = Deps & {
  limits: Limits;
  authenticate: Authenticate;
  /** Keeps recent calls for whoever may read logs. */
  requestLog: RequestLog;
  /** Opens the operator's routes; where it is null they do not exist. */
  cronSecret: string | null;
  /** Opens the route for what comes back; where it is null nobody may hand in anything. */
  inboundToken: string | null;
  /** One bounded round of delivery, for where no worker runs beside us. */
  tick: () => Promise<void>;
  /** Largest request body in bytes. */
  bodyMaxBytes: number;
  /** Keeps large bodies from using up the memory together. */
  bodyRoom: BodyRoom;
  /** Proxies in front whose X-Forwarded-For entries may be believed. */
  trustedHops: number;
};

/** What the delivery engine needs. Without a transport, and without a relay, real recipients wait. */
export type WorkerDeps = Deps & {
  transport: Transport | null;
  /** How long a relay of the database may take for a step, where it is not the usual time. */
  relayTimeouts?: Partial<RelayTimeouts>;
};

/** Who asks: a program by its key, a person by a session, or the operator by the command line. */
export type Actor =
  | {
      kind: "key";
      keyId: string;
      scopes: readonly string[];
      domains: readonly SenderDomain[];
      allDomains: boolean;
    }
  | { kind: "user"; userId: string }
  | { kind: "operator" };

export type SenderDomain = {
  id: string;
  name: string;
  verified: boolean;
  openTracking: boolean;
  clickTracking: boolean;
};

/** First argument of every service. */
export type Ctx = Deps & { teamId: string; actor: Actor; requestId: string };
