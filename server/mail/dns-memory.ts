import { performance } from "node:perf_hooks";
import type { AskDns, DnsAnswer, DnsType } from "./dns";

const keepMs = 60_000;
/** What is not there is asked for afresh by the next attempt of a mail, which comes no sooner than in 15 seconds. */
const keepAbsentMs = 10_000;
const answersMax = 10_000;

/**
 * The same questions asked of DNS only once a minute, and only once at the same time. For where many mails go to few
 * destinations; a look at one's own records asks afresh. What nobody could tell is not remembered.
 */
export function rememberDns(ask: AskDns, nowMs = () => performance.now()): AskDns {
  const answers = new Map<string, { untilMs: number; answer: Promise<DnsAnswer> }>();

  const remembered = async (name: string, type: DnsType): Promise<DnsAnswer> => {
    const key = `${type} ${name.toLowerCase()}`;
    const known = answers.get(key);
    if (known !== undefined && known.untilMs > nowMs()) return known.answer;
    answers.delete(key);
    if (answers.size >= answersMax) dropOldest(answers);
    // Shared by all who ask meanwhile, so none of them may end it for the others: it has time limits of its own.
    const answer = ask(name, type);
    answers.set(key, { untilMs: nowMs() + keepMs, answer });
    const { kind } = await answer;
    if (kind === "servfail" || kind === "timeout") answers.delete(key);
    else if (kind !== "answer") answers.set(key, { untilMs: nowMs() + keepAbsentMs, answer });
    return answer;
  };

  return async <T extends DnsType>(name: string, type: T, signal?: AbortSignal): Promise<DnsAnswer<T>> => {
    const late: DnsAnswer<T> = { name, type, resolver: "none", kind: "timeout" };
    // The key holds the type, so the answer is of that type.
    const answer = remembered(name, type) as Promise<DnsAnswer<T>>;
    if (signal === undefined) return answer;
    if (signal.aborted) return late;
    let leave = () => {};
    const left = new Promise<DnsAnswer<T>>((resolve) => {
      leave = () => resolve(late);
      signal.addEventListener("abort", leave, { once: true });
    });
    return Promise.race([answer, left]).finally(() => signal.removeEventListener("abort", leave));
  };
}

/** Maps keep the order of insertion. */
function dropOldest(answers: Map<string, unknown>): void {
  for (const key of answers.keys()) {
    answers.delete(key);
    return;
  }
}
