import type { WorkerDeps } from "#server/deps";
import type { StoredMessage } from "./stored-messages";

/**
 * Maximum deliveries of one team that wait for a text here. With fewer, the threads are idle between two
 * claims.
 */
const waitingMax = 20;

/** A text to generate, which counts towards the maximum until `release` is called or it is complete. */
export type ReservedText = {
  /** The email with the text that all its attempts send. Rejects if the database is unavailable. */
  complete(): Promise<StoredMessage>;
  release(): void;
};

/**
 * Generates text parts from large HTML bodies before an email uses any other resource, and stores them with
 * the email. A team has at most `waitingMax` such deliveries here, or those of one email, so other teams
 * always have capacity. `onCapacity` is called when a team that had reached its maximum has capacity again.
 */
export function createLongTexts(deps: WorkerDeps, onCapacity: () => void) {
  const waiting = new Map<string, number>();
  const full = new Set<string>();
  /** One email can have attempts for several destinations at the same time. */
  const inProgress = new Map<string, Promise<string>>();

  async function complete(email: StoredMessage): Promise<StoredMessage> {
    const { id } = email;
    const text = inProgress.get(id) ?? makeAndStoreText(deps, email).finally(() => inProgress.delete(id));
    inProgress.set(id, text);
    return { ...email, text: await text, needsText: false };
  }

  return {
    /** Whether the email needs no generated text or may wait for it here. */
    hasCapacity: ({ teamId, needsText }: StoredMessage): boolean =>
      !needsText || (waiting.get(teamId) ?? 0) < waitingMax,
    reserve(email: StoredMessage, deliveries: number): ReservedText {
      const { teamId, needsText } = email;
      if (!needsText) return { complete: async () => email, release() {} };
      const count = (waiting.get(teamId) ?? 0) + deliveries;
      waiting.set(teamId, count);
      if (count >= waitingMax) full.add(teamId);
      let isWaiting = true;
      const release = () => {
        if (!isWaiting) return;
        isWaiting = false;
        const left = (waiting.get(teamId) ?? 0) - deliveries;
        if (left > 0) waiting.set(teamId, left);
        else waiting.delete(teamId);
        if (left <= waitingMax / 2 && full.delete(teamId)) onCapacity();
      };
      return { complete: () => complete(email).finally(release), release };
    },
    /** How many more deliveries may be claimed, for each team that has some here. */
    capacityByTeam: () =>
      new Map([...waiting].map(([teamId, count]) => [teamId, Math.max(0, waitingMax - count)])),
  };
}

/**
 * Several workers may generate the text of one email at the same time. All use the one that is stored first.
 */
async function makeAndStoreText({ hot, convertToText }: WorkerDeps, stored: StoredMessage): Promise<string> {
  const { teamId, id } = stored;
  const html = stored.html ?? (await readHtml(hot, stored));
  const made = await convertToText(teamId, html);
  const [row] = await hot<{ text: string }[]>`
    update email_bodies set made_text = coalesce(made_text, ${made})
    where team_id = ${teamId} and email_id = ${id} returning made_text as text`;
  return row?.text ?? made;
}

async function readHtml(hot: WorkerDeps["hot"], { teamId, id }: StoredMessage): Promise<string> {
  const [body] = await hot<{ html: string }[]>`
    select coalesce(html, '') as html from email_bodies where team_id = ${teamId} and email_id = ${id}`;
  return body?.html ?? "";
}
