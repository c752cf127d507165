import { BUILT_IN_DOMAIN } from "#db/schema/domains";
import type { WorkerDeps } from "#server/deps";
import { type SigningKey, signMessage } from "#server/mail/dkim/sign";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { errorFacts } from "#server/platform/log";
import { DkimKeyUnreadable } from "#server/services/domains/dkim/signing-keys";
import { returnPathDomainOf } from "#server/services/domains/return-path";
import { type OwnParts, outgoingMessage } from "#server/services/emails/outgoing";
import { marksOf } from "#server/services/emails/read/marks";
import type { Claim } from "../queue/claims";
import type { DeliveryResult } from "../queue/record-results";
import type { Route } from "../routing/routes";
import { settleFailure, settleOutcome } from "./outcome";
import type { SigningRequest } from "./signing-keys";
import { type StoredMessage, withBody } from "./stored-messages";

type Built = { message: OutgoingMessage } | { results: DeliveryResult[] };

/**
 * Builds the signed bytes of an email, identical in every attempt, or returns results instead. An email that
 * cannot be composed fails; one whose DKIM key cannot be decrypted is deferred, because it is never sent
 * unsigned. Throws if the database is unavailable.
 */
export async function buildMessage(
  deps: WorkerDeps,
  stored: StoredMessage,
  claims: Claim[],
  route: Route,
  findKeys: (request: SigningRequest) => Promise<SigningKey[]>,
): Promise<Built> {
  const complete = await withBody(deps.hot, stored);
  let message: OutgoingMessage;
  try {
    // The message submitted over SMTP contains its own text.
    const text =
      complete.text ?? (complete.raw ? "" : await deps.convertToText(stored.teamId, complete.html ?? ""));
    message = outgoingMessage({ ...complete, text }, recipientParts(deps, stored, claims, route));
  } catch (error) {
    // A retry would fail in the same way and only delay other deliveries.
    deps.log.error("email.not_composed", { emailId: stored.id, ...errorFacts(error) });
    const reason = "The message could not be composed. Nothing was sent.";
    return { results: claims.map((claim) => settleFailure(claim, reason)) };
  }
  try {
    const { teamId, domainId, senderDomain: domain, createdAt } = stored;
    // The built-in domain is shared by all teams and has no keys.
    const isSigned = domainId !== null && domain !== BUILT_IN_DOMAIN;
    const keys = isSigned ? await findKeys({ teamId, domainId, domain, createdAt }) : [];
    const sign = async (unsigned: Uint8Array) => {
      const bytes = await signMessage(unsigned, keys, createdAt);
      return { bytes, signatureBytes: bytes.length - unsigned.length };
    };
    const { sevenBit } = message;
    const signed = { ...message, ...(await sign(message.bytes)), tls: stored.tls };
    return { message: sevenBit ? { ...signed, sevenBit: await sign(sevenBit.bytes) } : signed };
  } catch (error) {
    if (!(error instanceof DkimKeyUnreadable)) throw error;
    deps.log.error("email.not_signed", { emailId: stored.id, ...errorFacts(error) });
    return { results: claims.map((claim) => deferUnsigned(claim, stored)) };
  }
}

/** Parts that are individual to one recipient. A copy for several recipients has none. */
function recipientParts(deps: WorkerDeps, stored: StoredMessage, claims: Claim[], route: Route): OwnParts {
  const [claim] = claims;
  if (claims.length !== 1 || !claim) return {};
  const { recipientTokens } = deps;
  const { teamId, id, listUnsubscribe, listName: list } = stored;
  const { address } = claim;
  const returnPathDomain = returnPathDomainOf(deps, stored, route.isByDestination);
  const marks = marksOf(recipientTokens, stored, claim.id);
  // A later attempt for several recipients must have the same bytes.
  if (!marks && !listUnsubscribe && returnPathDomain === null) return {};
  const token = recipientTokens.returnPath(claim.id);
  return {
    token,
    ...(marks && { marks }),
    ...(listUnsubscribe && {
      unsubscribeLink: recipientTokens.unsubscribeLink({ teamId, emailId: id, address, list }),
    }),
    ...(returnPathDomain !== null && { returnPath: `${token}@${returnPathDomain}` }),
  };
}

function deferUnsigned(claim: Claim, { policy, senderDomain }: StoredMessage): DeliveryResult {
  const reason = `The DKIM key of ${senderDomain} cannot be decrypted, and email is not sent unsigned. Check that BACKSTAMP_SECRET is the one that was set when the key was created.`;
  const outcome = { recipient: claim.address, kind: "deferred", reply: null, host: null, reason } as const;
  return settleOutcome(claim, outcome, { policy, random: Math.random(), isFinal: false });
}
