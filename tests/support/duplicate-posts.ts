import { randomUUID } from "node:crypto";
import { callApi } from "./rest";

export type DuplicateOptions = {
  /** One or more API servers on one database; the posts of a round are distributed among them. */
  baseUrls: readonly string[];
  /** A key that may send from `sender` and read emails. */
  token: string;
  sender?: string;
  rounds: number;
  /** Concurrent posts in each round. */
  posts?: number;
};

/** A fault in a round. A run without faults returns none. */
export type DuplicateFault = { round: number; what: string; seen: unknown };

/**
 * Rounds of equal, concurrent posts with one idempotency key. In each round every post must return 200 with
 * the same id, all but one as a replay, and exactly one email must exist afterwards. It uses only HTTP, so it
 * can test any API server.
 */
export async function postDuplicates(options: DuplicateOptions): Promise<DuplicateFault[]> {
  const { baseUrls, token, sender = "ann@backstamp.test", rounds, posts = 50 } = options;
  const faults: DuplicateFault[] = [];
  for (let round = 0; round < rounds; round++) {
    const subject = `Round ${randomUUID()}`;
    const body = { from: sender, to: "delivered@backstamp.test", subject, html: "<p>Once</p>" };
    const headers = { "idempotency-key": randomUUID() };
    const replies = await Promise.all(
      Array.from({ length: posts }, (_, n) =>
        callApi(baseUrls[n % baseUrls.length] ?? "", "POST", "/api/emails", { token, body, headers }),
      ),
    );
    const note = (what: string, seen: unknown) => faults.push({ round, what, seen });
    const odd = replies.find(({ status }) => status !== 200);
    if (odd) note("a post did not return 200", { status: odd.status, text: odd.text });
    const answers = new Set(replies.map(({ text }) => text));
    if (answers.size !== 1) note("the responses differ", [...answers]);
    const fresh = replies.filter((reply) => reply.headers["idempotent-replayed"] === undefined);
    if (fresh.length !== 1) note("not exactly one response was not a replay", fresh.length);
    const query = new URLSearchParams({ subject });
    const list = await callApi(baseUrls[0] ?? "", "GET", `/api/emails?${query}`, { token });
    const mails = list.body.data;
    if (!Array.isArray(mails) || mails.length !== 1) note("not exactly one email exists", mails);
  }
  return faults;
}
