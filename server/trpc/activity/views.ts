import { AUDIT_ACTIONS } from "#server/services/audit/actions";
import type { AuditEntryRow, KnownActor } from "#server/services/audit/read";
import { nounOf } from "#server/services/audit/subjects";
import type { ApiCall, ApiCallWithBodies } from "#server/services/logs/read";

/** The text for an action; its stored name if it is unknown. */
export const wordsOf = (action: string): string =>
  Object.entries(AUDIT_ACTIONS).find(([name]) => name === action)?.[1] ?? action;

/** One entry of the audit log. Times are ISO 8601. */
export function viewChange(row: AuditEntryRow, present: ReadonlySet<string>) {
  return {
    id: row.id,
    actor: row.actor,
    actorId: row.actorId,
    actorName: row.actorName,
    action: row.action,
    words: wordsOf(row.action),
    /** The kind of object. */
    noun: nounOf(row.action),
    subjectId: row.subjectId,
    subjectName: row.subjectName,
    /** Whether the object still has a page. */
    isPresent: row.subjectId !== null && present.has(row.subjectId),
    detail: row.detail,
    requestId: row.requestId,
    createdAt: row.createdAt.toISOString(),
  };
}
export type ChangeRow = ReturnType<typeof viewChange>;

/** An actor by whom the audit log can be filtered. */
export const viewActor = ({ id, actor, name }: KnownActor) => ({ id, actor, name });
export type ActorView = ReturnType<typeof viewActor>;

/** A recent API call, without bodies. */
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

/** The same with the recorded request and response; null if there was no body. */
export function viewCallDetail(call: ApiCallWithBodies, keyName: string | null) {
  return {
    ...viewCall(call, keyName),
    requestBody: call.requestBody === null ? null : JSON.stringify(call.requestBody, null, 2),
    responseBody: call.responseBody === null ? null : JSON.stringify(call.responseBody, null, 2),
    /** Why a 403 was returned, in one sentence. */
    rejectionDetail: call.rejectionDetail,
  };
}
export type CallView = ReturnType<typeof viewCallDetail>;
