import type { HotSql } from "#db/client";
import { newId } from "#server/ids";
import { errorFacts, type Log } from "#server/log";
import { secretHashOf } from "#server/secrets";
import { redactBody, redactText } from "./redact";

/** Calls that wait to be written at most; what succeeds beyond that is not recorded, what is refused is for a while longer. */
const waitingMax = 2_000;
const refusalsMax = 500;
/** Of these at most so many by keys that are none any more: anybody can invent some. */
const strangersMax = 200;
const flushEveryMs = 1_000;
const warnEveryMs = 60_000;

export type LoggedCall = {
  /** The key; or a token that opened nothing, which is kept only where it is an expired or a revoked key's. */
  caller: { teamId: string; apiKeyId: string } | { token: string };
  method: string;
  /** Without its query. */
  path: string;
  status: number;
  userAgent: string | null;
  /** As parsed, undefined where there was none or it was refused before. */
  requestBody?: unknown;
  responseBody?: unknown;
};

/** The record of recent calls. */
export type RequestLog = {
  /** Takes note of a call. Never throws and never waits. */
  record(call: LoggedCall): void;
  /** Writes what is noted. Never rejects: what cannot be written is lost. */
  flush(): Promise<void>;
};

type Row = {
  id: string;
  teamId: string | null;
  apiKeyId: string | null;
  secretHash: string | null;
  method: string;
  path: string;
  status: number;
  userAgent: string | null;
  requestBody: string | null;
  responseBody: string | null;
  createdAt: string;
};

/** Runs a task soon, when nobody waits for it any more. */
export type Later = (task: () => Promise<void>) => void;

const inASecond: Later = (task) => {
  setTimeout(() => void task(), flushEveryMs).unref();
};

/**
 * Notes calls in memory and writes them together, once a second, by one statement. Bounded in number and size: under more
 * calls than it can hold it forgets some, says so, and never slows anybody down.
 */
export function createRequestLog(
  { hot, log, clock }: { hot: HotSql; log: Log; clock: () => Date },
  later: Later = inASecond,
): RequestLog {
  let rows: Row[] = [];
  let strangers = 0;
  let lost = 0;
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  let isPlanned = false;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    isPlanned = false;
    const batch = rows;
    rows = [];
    strangers = 0;
    writing = writing.then(async () => {
      if (batch.length > 0)
        await insertCalls(hot, batch).catch((error) => {
          lost += batch.length;
          log.warn("log.calls_not_written", errorFacts(error));
        });
      const nowMs = clock().getTime();
      if (lost === 0 || nowMs - warnedAtMs < warnEveryMs) return;
      log.warn("log.calls_lost", { count: lost });
      lost = 0;
      warnedAtMs = nowMs;
    });
    return writing;
  };

  const note = (call: LoggedCall) => {
    const { caller, method, path, status, userAgent, requestBody, responseBody } = call;
    let secretHash: string | null = null;
    if ("token" in caller) {
      const hash = secretHashOf(caller.token);
      if (!hash || ++strangers > strangersMax) return;
      secretHash = Buffer.from(hash).toString("hex");
    }
    if (rows.length >= waitingMax + (status >= 400 ? refusalsMax : 0)) {
      lost++;
      return;
    }
    rows.push({
      id: newId(),
      teamId: "teamId" in caller ? caller.teamId : null,
      apiKeyId: "teamId" in caller ? caller.apiKeyId : null,
      secretHash,
      method,
      path: redactText(path),
      status,
      userAgent: userAgent === null ? null : redactText(userAgent),
      requestBody: redactBody(requestBody),
      responseBody: redactBody(responseBody),
      createdAt: clock().toISOString(),
    });
    if (isPlanned) return;
    isPlanned = true;
    later(flush);
  };

  return {
    record(call) {
      try {
        note(call);
      } catch (error) {
        lost++;
        log.warn("log.call_not_noted", errorFacts(error));
      }
    },
    flush,
  };
}

/** What a caller without a valid key gave is a key's of ours, or nothing is written. */
async function insertCalls(hot: HotSql, rows: Row[]): Promise<void> {
  await hot.unsafe(
    INSERT_CALLS,
    [
      rows.map(({ id }) => id),
      rows.map(({ teamId }) => teamId),
      rows.map(({ apiKeyId }) => apiKeyId),
      rows.map(({ secretHash }) => secretHash),
      rows.map(({ method }) => method),
      rows.map(({ path }) => path),
      rows.map(({ status }) => status),
      rows.map(({ userAgent }) => userAgent),
      rows.map(({ requestBody }) => requestBody),
      rows.map(({ responseBody }) => responseBody),
      rows.map(({ createdAt }) => createdAt),
    ],
    { prepare: hot.options.prepare },
  );
}

const INSERT_CALLS = `
insert into api_requests (id, team_id, api_key_id, method, path, status, user_agent, request_body, response_body, created_at)
select r.id, coalesce(r.team_id, k.team_id), coalesce(r.api_key_id, k.id), r.method, r.path, r.status, r.user_agent,
  r.request_body::jsonb, r.response_body::jsonb, r.created_at
from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::int[], $8::text[], $9::text[],
  $10::text[], $11::timestamptz[])
  as r(id, team_id, api_key_id, secret_hash, method, path, status, user_agent, request_body, response_body, created_at)
left join api_keys k on k.secret_hash = decode(r.secret_hash, 'hex')
where r.team_id is not null or k.id is not null`;
