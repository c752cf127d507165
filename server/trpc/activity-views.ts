import { AUDIT_ACTIONS } from "#server/services/audit/actions";
import type { AuditEntryRow, KnownActor } from "#server/services/audit/read";
import { nounOf } from "#server/services/audit/subjects";
import type { ApiCall, WholeApiCall } from "#server/services/logs/read";

/** What an action is called in words; its own name where nobody knows it any more. */
export const wordsOf = (action: string): string =>
  Object.entries(AUDIT_ACTIONS).find(([name]) => name === action)?.[1] ?? action;

/** One entry of the log of changes. Times are ISO 8601. */
export function viewChange(row: AuditEntryRow, present: ReadonlySet<string>) {
  return {
    id: row.id,
    actor: row.actor,
    actorId: row.actorId,
    actorName: row.actorName,
    action: row.action,
    words: wordsOf(row.action),
    /** What kind of thing it was done to. */
    noun: nounOf(row.action),
    subjectId: row.subjectId,
    subjectName: row.subjectName,
    /** Whether a page about it is still there. */
    isPresent: row.subjectId !== null && present.has(row.subjectId),
    detail: row.detail,
    requestId: row.requestId,
    createdAt: row.createdAt.toISOString(),
  };
}
export type ChangeRow = ReturnType<typeof viewChange>;

/** Somebody by whom the log can be filtered. */
export const viewActor = ({ id, actor, name }: KnownActor) => ({ id, actor, name });
export type ActorView = ReturnType<typeof viewActor>;

/** A recent call of the API, without bodies. */
export function viewCall(call: ApiCall, keyName: string | null) {
  return {
    id: call.id,
    method: call.method,
    path: call.path,
    status: call.status,
    keyId: call.apiKeyId,
    keyName,
    userAgent: call.userAgent,
    createdAt: call.createdAt.toISOString(),
  };
}
export type CallRow = ReturnType<typeof viewCall>;

/** The same with what was asked and answered, as far as it is kept; null where there was no body. */
export function viewWholeCall(call: WholeApiCall, keyName: string | null) {
  return {
    ...viewCall(call, keyName),
    requestBody: call.requestBody === null ? null : JSON.stringify(call.requestBody, null, 2),
    responseBody: call.responseBody === null ? null : JSON.stringify(call.responseBody, null, 2),
  };
}
export type CallView = ReturnType<typeof viewWholeCall>;
