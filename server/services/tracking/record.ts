import { withinMs } from "#db/gate";
import type { Engagement } from "#db/schema/emails";
import type { Deps } from "#server/deps";
import { newId } from "#server/platform/ids";
import { errorFacts } from "#server/platform/log";
import { visitorOf } from "./visitor";
import { findVisited, insertVisit, type VisitedCopy, type VisitType } from "./visits";

/** Maximum length of a stored user agent. */
const agentCharsMax = 500;
/** A visitor who follows a link waits no longer than this for the record. */
const recordMsMax = 2_000;

/** The engagement that a visit by a reader means. */
const ENGAGEMENT: Readonly<Record<VisitType, Engagement>> = {
  "email.opened": "opened",
  "email.clicked": "clicked",
};

export type VisitRequest = {
  type: VisitType;
  /** Target of the link. */
  link?: string;
  address: string | null;
  agent: string | null;
};

/**
 * Records a visit as an event of the delivery, with the kind of visitor. It does not change whether the email
 * counts as delivered. An open or click by a reader becomes the email's last event. Never throws: the reader
 * gets the pixel or the link even if nothing can be recorded.
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
  const visitor = visitorOf(agent, { isInProgress: status === "sending", sentMsAgo });
  const visit = {
    ...visitor,
    ...(link !== undefined && { link }),
    address,
    agent: agent?.slice(0, agentCharsMax) ?? null,
  };
  const isRead = visitor.by === "reader" || visitor.by === "proxy";
  const engagement = isRead ? ENGAGEMENT[type] : null;
  return insertVisit(hot, copy, { id: newId(), type, recipient, visit, engagement });
}
