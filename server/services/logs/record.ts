import type { HotSql } from "#db/client";
import { type Columns, writeStatement } from "#db/statement";
import type { Rejection } from "#server/platform/errors";
import { isId, newId } from "#server/platform/ids";
import { errorFacts, type Log } from "#server/platform/log";
import { secretHashOf } from "#server/platform/secrets/secrets";
import { redactBody, redactText } from "./redact";

/**
 * Calls that are buffered at most. Above that, successful calls are not recorded; failed ones are, up to
 * `failedMax` more.
 */
const waitingMax = 2_000;
const failedMax = 500;
/**
 * Maximum number of buffered calls with an unknown key, because callers can send any number of invented keys.
 */
const unknownKeysMax = 200;
const flushEveryMs = 1_000;
const warnEveryMs = 60_000;

export type LoggedCall = {
  /**
   * The key; or the token of a call with an invalid key, which is stored only if it belongs to an expired or
   * revoked key.
   */
  caller: { teamId: string; apiKeyId: string } | { token: string };
  method: string;
  /** Without the query string. */
  path: string;
  status: number;
  userAgent: string | null;
  /** As parsed; undefined if there was no body or the call was rejected before parsing. */
  requestBody?: unknown;
  responseBody?: unknown;
  /** Reason of a 403. */
  rejection?: Rejection | null;
};

/** The record of recent calls. */
export type RequestLog = {
  /** Buffers a call. Never throws or waits. */
  record(call: LoggedCall): void;
  /** Writes the buffered calls. Never rejects: calls that cannot be written are lost. */
  flush(): Promise<void>;
};

type Row = ReturnType<typeof toRow>;

/** Runs a task later, outside the current request. */
export type Later = (task: () => Promise<void>) => void;

const inASecond: Later = (task) => {
  setTimeout(() => void task(), flushEveryMs).unref();
};

/**
 * Buffers calls in memory and writes them together, once per second, in one statement. The buffer is bounded
 * in number and size: if it is full, calls are dropped and the loss is logged; requests are never delayed.
 */
export function createRequestLog(
  { hot, log, clock }: { hot: HotSql; log: Log; clock: () => Date },
  later: Later = inASecond,
): RequestLog {
  let rows: Row[] = [];
  let unknownKeys = 0;
  let lost = 0;
  let warnedAtMs = Number.NEGATIVE_INFINITY;
  let isScheduled = false;
  let writing: Promise<void> = Promise.resolve();

  const flush = (): Promise<void> => {
    isScheduled = false;
    const batch = rows;
    rows = [];
    unknownKeys = 0;
    writing = writing.then(async () => {
      if (batch.length > 0)
        await insertCalls(hot, { rows: batch }).catch((error) => {
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

  const buffer = (call: LoggedCall) => {
    const { caller, status } = call;
    let secretHash: Uint8Array | null = null;
    if ("token" in caller) {
      const hash = secretHashOf(caller.token);
      if (!hash || ++unknownKeys > unknownKeysMax) return;
      secretHash = hash;
    }
    if (rows.length >= waitingMax + (status >= 400 ? failedMax : 0)) {
      lost++;
      return;
    }
    rows.push(toRow(call, secretHash, clock()));
    if (isScheduled) return;
    isScheduled = true;
    later(flush);
  };

  return {
    record(call) {
      try {
        buffer(call);
      } catch (error) {
        lost++;
        log.warn("log.call_not_noted", errorFacts(error));
      }
    },
    flush,
  };
}

const toRow = ({ caller, ...call }: LoggedCall, secretHash: Uint8Array | null, createdAt: Date) => ({
  id: newId(),
  teamId: "teamId" in caller ? caller.teamId : null,
  apiKeyId: "teamId" in caller ? caller.apiKeyId : null,
  secretHash,
  method: call.method,
  path: redactText(call.path),
  status: call.status,
  userAgent: call.userAgent === null ? null : redactText(call.userAgent),
  requestBody: redactBody(call.requestBody),
  responseBody: redactBody(call.responseBody),
  emailIds: sentIdsOf(call),
  rejectionReason: call.rejection?.reason ?? null,
  rejectionDetail: call.rejection?.detail ?? null,
  createdAt,
});

/** The emails that the call has sent, as an array of PostgreSQL. */
function sentIdsOf({ method, path, status, responseBody }: Omit<LoggedCall, "caller">): string | null {
  if (status !== 200 || !(method === "POST" || method === "SMTP") || !SENDS.test(path)) return null;
  const { id, data } = responseBody as { id?: string; data?: { id: string }[] };
  const ids = [id, ...(data ?? []).map((each) => each.id)].filter((each) => each !== undefined && isId(each));
  return ids.length > 0 ? `{${ids}}` : null;
}

const SENDS = /^(\/api)?\/emails(\/batch)?\/?$/;

const CALL: Columns<Row> = {
  id: ["uuid", ({ id }) => id],
  team_id: ["uuid", ({ teamId }) => teamId],
  api_key_id: ["uuid", ({ apiKeyId }) => apiKeyId],
  secret_hash: ["bytea", ({ secretHash }) => secretHash],
  method: ["text", ({ method }) => method],
  path: ["text", ({ path }) => path],
  status: ["int", ({ status }) => status],
  user_agent: ["text", ({ userAgent }) => userAgent],
  request_body: ["text", ({ requestBody }) => requestBody],
  response_body: ["text", ({ responseBody }) => responseBody],
  email_ids: ["text", ({ emailIds }) => emailIds],
  rejection_reason: ["text", ({ rejectionReason }) => rejectionReason],
  rejection_detail: ["text", ({ rejectionDetail }) => rejectionDetail],
  created_at: ["timestamptz", ({ createdAt }) => createdAt],
};

// A call without a valid key is recorded only if its token belongs to a key that expired or was revoked.
const insertCalls = writeStatement<{ rows: Row[] }>(
  ({ rows }) => `
insert into api_requests (id, team_id, api_key_id, method, path, status, user_agent, request_body, response_body,
  email_ids, rejection_reason, rejection_detail, created_at)
select r.id, coalesce(r.team_id, k.team_id), coalesce(r.api_key_id, k.id), r.method, r.path, r.status, r.user_agent,
  r.request_body::jsonb, r.response_body::jsonb, r.email_ids::uuid[], r.rejection_reason, r.rejection_detail, r.created_at
from ${rows("rows", CALL)} as r
left join api_keys k on k.secret_hash = r.secret_hash
where r.team_id is not null or k.id is not null`,
);
