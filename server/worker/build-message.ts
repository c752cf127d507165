import type { Claim } from "#db/queue";
import type { DeliveryResult } from "#db/results";
import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { WorkerDeps } from "#server/deps";
import { errorFacts } from "#server/log";
import { type SigningKey, signMessage } from "#server/mail/dkim/sign";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { KeyDoesNotOpen } from "#server/services/domains/signing-keys";
import { marksOf } from "#server/services/emails/marks";
import { type OwnParts, outgoingMessage } from "#server/services/emails/outgoing";
import { type StoredMessage, withBody } from "./messages";
import { settleFailure, settleOutcome } from "./settle";
import type { SignedMail } from "./signing-keys";

type Built = { message: OutgoingMessage } | { results: DeliveryResult[] };

/**
 * The signed bytes of a mail, the same in every attempt; or what came of trying. Mail that cannot be composed is failed,
 * mail whose key does not open waits: it would go out unsigned. Throws where the database is away.
 */
export async function buildMessage(
  deps: WorkerDeps,
  stored: StoredMessage,
  claims: Claim[],
  keysFor: (mail: SignedMail) => Promise<SigningKey[]>,
): Promise<Built> {
  const whole = await withBody(deps.hot, stored);
  let message: OutgoingMessage;
  try {
    message = outgoingMessage(whole, ownParts(deps, stored, claims));
  } catch (error) {
    // Whatever is wrong with it would be wrong again: it must not come back and stand before the others.
    deps.log.error("email.not_composed", { emailId: stored.id, ...errorFacts(error) });
    const reason = "The message could not be composed. Nothing was sent.";
    return { results: claims.map((claim) => settleFailure(claim, reason)) };
  }
  try {
    const keys = await keysOf(stored, keysFor);
    const bytes = await signMessage(message.bytes, keys, stored.createdAt);
    const signatureBytes = bytes.length - message.bytes.length;
    return { message: { ...message, bytes, signatureBytes, needsTls: stored.needsTls } };
  } catch (error) {
    if (!(error instanceof KeyDoesNotOpen)) throw error;
    deps.log.error("email.not_signed", { emailId: stored.id, ...errorFacts(error) });
    return { results: claims.map((claim) => deferUnsigned(claim, stored)) };
  }
}

/** What is in this copy for its recipient alone; a copy for several has nothing of that kind. */
function ownParts({ names, recipientTokens }: WorkerDeps, stored: StoredMessage, claims: Claim[]): OwnParts {
  const [claim] = claims;
  if (claims.length !== 1 || !claim) return {};
  const { teamId, id, listUnsubscribe } = stored;
  const { address } = claim;
  const marks = marksOf(recipientTokens, stored, claim.id);
  return {
    ...(marks && { marks }),
    ...(listUnsubscribe && {
      unsubscribeLink: recipientTokens.unsubscribeLink({ teamId, emailId: id, address }),
    }),
    ...(names.returnPathDomain !== null && {
      returnPath: `${recipientTokens.returnPath(claim.id)}@${names.returnPathDomain}`,
    }),
  };
}

/** The built-in domain is everybody's, and nobody signs for it. */
async function keysOf(
  { teamId, domainId, senderDomain: domain, createdAt }: StoredMessage,
  keysFor: (mail: SignedMail) => Promise<SigningKey[]>,
): Promise<SigningKey[]> {
  return domainId === null || domain === BUILT_IN_DOMAIN
    ? []
    : keysFor({ teamId, domainId, domain, createdAt });
}

function deferUnsigned(claim: Claim, { policy, senderDomain }: StoredMessage): DeliveryResult {
  const reason = `The DKIM key of ${senderDomain} does not open, and nothing is sent without its signature. Is POSTHORN_SECRET the one that the key was made under?`;
  const outcome = { recipient: claim.address, kind: "deferred", reply: null, host: null, reason } as const;
  return settleOutcome(claim, outcome, { policy, random: Math.random(), isFinal: false });
}
