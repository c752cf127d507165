import type { ReplyClass } from "#server/shared/reply-classes";
import { type Outcome, quote } from "../outcome";
import { classifyProvider } from "../provider-class";

/**
 * What a rule of the operator does with an email. `keep`: what the server decided, with another class.
 * `defer`: it is retried, even after a 5xx reply. `bounce`: it is permanently rejected, even after a 4xx
 * reply. `suppress`: the same, and the address is suppressed if the reply is about this recipient.
 */
export const REPLY_ACTIONS = ["keep", "defer", "bounce", "suppress"] as const;
export type ReplyAction = (typeof REPLY_ACTIONS)[number];

/**
 * A rule of the operator. `pattern` is a text in which `*` stands for any characters; it is searched in the
 * reply with its codes, in any letter case. `destination` is a provider, such as `gmail`, or a domain of
 * recipients or of MX hosts, with the names below it; null for all.
 */
export type OwnRule = {
  name: string;
  pattern: string;
  destination: string | null;
  class: ReplyClass;
  action: ReplyAction;
};

const EFFECTS = {
  keep: {},
  defer: { kind: "deferred" },
  bounce: { kind: "rejected", isDead: false },
  suppress: { kind: "rejected", isDead: true },
} as const satisfies Record<ReplyAction, Partial<Outcome>>;

const WORDS: Record<ReplyAction, string> = {
  keep: "explains this reply",
  defer: "defers the email",
  bounce: "bounces the email",
  suppress: "bounces the email",
};

/**
 * Applies the first rule that matches the reply of a rejected or deferred email; the rules are in the order
 * of their names. Replies about our own login or TLS, and outcomes without a reply, have no rules.
 */
export function applyOwnRules(rules: readonly OwnRule[], domain: string, outcome: Outcome): Outcome {
  const { kind, reply, host, alarm, nextTransaction } = outcome;
  if (rules.length === 0 || reply?.code == null || alarm !== undefined || nextTransaction) return outcome;
  if (kind !== "rejected" && kind !== "deferred") return outcome;
  const text = normalizeReply(quote(reply));
  const rule = rules.find(
    ({ pattern, destination }) =>
      matchesPattern(pattern, text) && (destination === null || isAt(destination, domain, host)),
  );
  if (!rule) return outcome;
  const { name, class: replyClass, action } = rule;
  const reason = `${outcome.reason} The operator's rule ${name} ${WORDS[action]}.`;
  return { ...outcome, class: replyClass, replyRule: `operator:${name}`, reason, ...EFFECTS[action] };
}

/** The form of patterns and replies in which they are compared. */
export const normalizeReply = (text: string): string => text.toLowerCase().replace(/\s+/g, " ").trim();

/** Finds the parts between the wildcards in their order: each character is read at most once per part. */
function matchesPattern(pattern: string, text: string): boolean {
  let from = 0;
  for (const part of pattern.split("*")) {
    const at = text.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return true;
}

function isAt(destination: string, domain: string, host: string | null): boolean {
  if (!destination.includes("."))
    return classifyProvider(domain, host?.toLowerCase() ?? null) === destination;
  return [domain, host?.toLowerCase() ?? ""].some(
    (name) => name === destination || name.endsWith(`.${destination}`),
  );
}
