import { withinMs } from "#db/gate";
import { findVisited, insertVisit, type VisitedCopy, type VisitType } from "#db/visits";
import type { Deps } from "#server/deps";
import { newId } from "#server/ids";
import { errorFacts } from "#server/log";
import { visitorOf } from "./visitor";

/** Longest name of a visiting program that is kept. */
const agentCharsMax = 500;
/** Whoever follows a link waits no longer than this for its record. */
const recordMsMax = 2_000;

export type VisitRequest = {
  type: VisitType;
  /** Where a link leads. */
  link?: string;
  address: string | null;
  agent: string | null;
};

/**
 * Records that somebody or something visited: an event of the delivery, marked as what it was, which changes nothing about
 * whether the mail arrived. Never throws: a reader gets his picture and his link also where nothing can be recorded.
 */
export async function recordVisit(
  deps: Pick<Deps, "hot" | "log" | "wake">,
  copy: VisitedCopy,
  request: VisitRequest,
): Promise<void> {
  try {
    const isNew = await withinMs(recordMsMax, writeVisit(deps, copy, request));
    if (isNew) deps.wake();
  } catch (error) {
    deps.log.warn("visit.not_recorded", { emailId: copy.emailId, ...errorFacts(error) });
  }
}

async function writeVisit(
  { hot }: Pick<Deps, "hot">,
  copy: VisitedCopy,
  { type, link, address, agent }: VisitRequest,
): Promise<boolean> {
  const found = await findVisited(hot, copy);
  if (!found) return false;
  const { recipient, status, sentMsAgo } = found;
  const visitor = visitorOf(agent, { isUnderWay: status === "sending", sentMsAgo });
  const visit = {
    ...visitor,
    ...(link !== undefined && { link }),
    address,
    agent: agent?.slice(0, agentCharsMax) ?? null,
  };
  return insertVisit(hot, copy, { id: newId(), type, recipient, visit });
}
