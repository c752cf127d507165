import { insertSubmissions, type Submission } from "./accept";
import type { HotSql } from "./client";
import { isDatabaseAway, isLockTimeout, isStatementTimeout, isUniqueViolation } from "./faults";
import { DatabaseBusy, withinMs } from "./gate";

/** Statements under way at once; more would only wait for the same disk. One connection is left for key look-ups. */
const statementsMax = 3;
const submissionsPerStatementMax = 100;
/** Larger bodies go nearly alone, so that one statement never holds more than about this many characters. */
const charactersPerStatementMax = 4_000_000;
/**
 * While statements are under way another begins for so many submissions, or once the first of them has waited so long: a
 * statement costs as much as several rows, and the one under way is mostly done by then.
 */
const worthAStatement = 8;
const gatherMsMax = 5;
/** What a submission waits for its statement to begin. One that is refused then was surely not written. */
const waitMsMax = 2_000;
/** What a caller waits for in all: longer than for any lock or twin, so only for a dead connection. */
const answerMsMax = 20_000;
/** What a submission waits for a twin that is writing under its key, and how long until it is tried again, at first and at most. */
const twinMsMax = 10_000;
const twinAgainMs = { first: 5, max: 100 } as const;

/** A twin was writing under the idempotency key for as long as anybody waits for one. Nothing of this submission was written. */
export class KeyHeld extends Error {
  override name = "KeyHeld";
}

/** Commits one submission; true when it was written, false when its idempotency key was used before. */
export type Accept = (submission: Submission) => Promise<boolean>;

type Waiting = {
  submission: Submission;
  resolve(written: boolean): void;
  reject(error: unknown): void;
  /** When it came, and since when it waits for a statement, on the process's monotonic clock. */
  cameMs: number;
  sinceMs: number;
  /** Until it is tried again where a twin holds its key. */
  againMs: number;
};

/**
 * The coalescing writer: submissions that wait at the same moment go in one statement, and each caller is answered after
 * its own commit. Where none is under way nobody is made to wait for company, and elsewhere for 5 ms at most. When a
 * statement of several fails, each goes again by itself, so that one bad row spoils nobody else's; ids are primary keys,
 * so a second try cannot write a mail twice. Whoever has waited 2 s without its statement having begun is refused as
 * DatabaseBusy. Whose idempotency key a twin holds takes nobody's place: it waits outside and is tried again until the twin
 * is done, and refused as KeyHeld after 10 s.
 */
export function createAcceptor(hot: HotSql): Accept {
  const queue: Waiting[] = [];
  const roomMax = Math.max(1, Math.min(statementsMax, hot.options.max - 1));
  let running = 0;
  let patience: NodeJS.Timeout | undefined;
  let isGathering = false;

  const next = (isLate = false) => {
    while (running < roomMax && queue.length > 0) {
      if (running > 0 && queue.length < worthAStatement && !isLate) {
        if (!isGathering) setTimeout(endGathering, gatherMsMax);
        isGathering = true;
        break;
      }
      running++;
      void write(takeBatch(queue)).finally(() => {
        running--;
        next();
      });
    }
    const [head] = queue;
    if (!head) {
      clearTimeout(patience);
      patience = undefined;
    } else patience ??= setTimeout(refuseLate, head.sinceMs + waitMsMax - performance.now());
  };

  const endGathering = () => {
    isGathering = false;
    next(true);
  };

  const refuseLate = () => {
    patience = undefined;
    const lateMs = performance.now() - waitMsMax;
    const late = queue.findIndex(({ sinceMs }) => sinceMs > lateMs);
    for (const { reject } of queue.splice(0, late === -1 ? queue.length : late))
      reject(new DatabaseBusy(waitMsMax));
    next();
  };

  const write = async (batch: Waiting[]) => {
    const submissions = batch.map(({ submission }) => submission);
    try {
      const written = await insertSubmissions(hot, submissions);
      for (const [index, waiting] of batch.entries()) {
        if (written[index] === "held") waitOutside(waiting);
        else waiting.resolve(written[index] === "written");
      }
    } catch (error) {
      await writeAgain(batch, error);
    }
  };

  const waitOutside = (waiting: Waiting) => {
    const { againMs } = waiting;
    if (performance.now() + againMs > waiting.cameMs + twinMsMax) {
      waiting.reject(new KeyHeld());
      return;
    }
    waiting.againMs = Math.min(againMs * 2, twinAgainMs.max);
    setTimeout(() => {
      enqueue(waiting);
      next();
    }, againMs);
  };

  const enqueue = (waiting: Waiting) => {
    waiting.sinceMs = performance.now();
    queue.push(waiting);
  };

  /** What may be written after all once the statement of a whole batch has failed. */
  const writeAgain = async (batch: Waiting[], error: unknown): Promise<void> => {
    const refuse = (refused: Waiting[]) => {
      for (const { reject } of refused) reject(error);
    };
    const [only, ...others] = batch;
    if (!only || isDatabaseAway(error) || isStatementTimeout(error)) return refuse(batch);
    if (others.length === 0) {
      // Its own id is there already: an earlier try was committed though its answer was lost.
      if (isUniqueViolation(error, "emails_team_id_id_pk")) only.resolve(true);
      else only.reject(error);
    } else if (isLockTimeout(error)) {
      // Only a key can be waited for, by somebody who holds no advisory lock on it; the others were merely beside it.
      const keyed = batch.filter(({ submission }) => submission.idempotency);
      const rest = batch.filter(({ submission }) => !submission.idempotency);
      refuse(keyed.length > 0 ? keyed : batch);
      if (keyed.length > 0 && rest.length > 0) await write(rest);
    } else await Promise.all(batch.map((waiting) => write([waiting])));
  };

  return (submission) =>
    withinMs(
      answerMsMax,
      new Promise<boolean>((resolve, reject) => {
        const cameMs = performance.now();
        enqueue({ submission, resolve, reject, cameMs, sinceMs: cameMs, againMs: twinAgainMs.first });
        // After the current turn of the loop, so that requests read from the sockets together are written together.
        setImmediate(() => next());
      }),
    );
}

/** The longest run from the head of the queue that fits in one statement and repeats no idempotency key. */
function takeBatch(queue: Waiting[]): Waiting[] {
  const keys = new Set<string>();
  let characters = 0;
  let count = 0;
  for (const { submission } of queue) {
    const { idempotency, mails } = submission;
    const key = idempotency && `${idempotency.teamId} ${idempotency.route} ${idempotency.key}`;
    characters += mails.reduce((sum, { html, text }) => sum + (html?.length ?? 0) + (text?.length ?? 0), 0);
    if (count > 0 && (count >= submissionsPerStatementMax || characters > charactersPerStatementMax)) break;
    if (key !== undefined && keys.has(key)) break;
    if (key !== undefined) keys.add(key);
    count++;
  }
  return queue.splice(0, count);
}
