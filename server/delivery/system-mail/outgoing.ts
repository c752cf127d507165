import type { systemMails } from "#db/schema/account";
import type { Deps } from "#server/deps";
import { type Mailbox, parseStoredMailbox } from "#server/mail/address/address";
import { type SigningKey, signMessage } from "#server/mail/dkim/sign";
import { composeMessage, type Draft, needsSmtpUtf8 } from "#server/mail/mime/compose";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { keepAllowedItems } from "#server/services/alerts/preferences";
import { keysAt, listSigningKeys } from "#server/services/domains/dkim/signing-keys";
import { ownReturnPathAt, returnPathDomainOf } from "#server/services/domains/return-path";
import { createSignInToken, signInLinkUrl } from "#server/services/people/sign-in-tokens";
import { findUser } from "#server/services/people/users";
import { openDetails } from "#server/services/system-mail/details";
import { LINK_MINUTES } from "#server/services/system-mail/queue";
import { isDeletionReader } from "#server/services/team-deletions/notify";
import { renderHtml, renderText } from "./layout";
import {
  type OpenedDetails,
  type SystemEmailContent,
  type SystemEmailData,
  systemEmailContent,
} from "./texts";

/** A stored system email. */
export type StoredSystemEmail = Pick<
  typeof systemMails.$inferSelect,
  "id" | "kind" | "messageId" | "createdAt" | "expiresAt"
> & {
  /** Encrypted. */
  details: string;
};

/**
 * Composes a system email, with a DKIM signature if the sender's domain is verified here. With direct
 * delivery (`isDirect`) its return path is signed, or the null sender without a domain for it. Null if no
 * user has the recipient's address, or the user may no longer read it. Each call creates a new link, which is
 * valid from that moment. Throws if the database is unavailable or the details were encrypted with another
 * secret, and RangeError if the message cannot be composed.
 */
export async function composeSystemEmail(
  deps: Deps,
  email: StoredSystemEmail,
  recipient: Mailbox,
  isDirect: boolean,
): Promise<OutgoingMessage | null> {
  const data = await readEmailData(deps, email, recipient);
  if (data === null) return null;
  const { ownReturnPath, ...message } = await composeOwnEmail(deps, email, recipient, {
    content: systemEmailContent(data),
  });
  const returnPathDomain = returnPathDomainOf(deps, { ownReturnPath }, isDirect);
  const signedPath = returnPathDomain && `${deps.recipientTokens.returnPath(email.id)}@${returnPathDomain}`;
  // A relay may accept only the sender's address.
  const returnPath = isDirect ? (signedPath ?? "") : parseStoredMailbox(deps.home.sender).address;
  return { ...message, returnPath };
}

/** What an email of Backstamp itself has besides its content. */
type OwnEmailParts = { content: SystemEmailContent } & Partial<Pick<Draft, "replyTo" | "headers" | "files">>;

/** Composes and signs an email of Backstamp itself. RangeError if it cannot be composed. */
export async function composeOwnEmail(
  deps: Pick<Deps, "home" | "hot" | "vault">,
  { id, messageId, createdAt }: Pick<StoredSystemEmail, "id" | "messageId" | "createdAt">,
  recipient: Mailbox,
  { content, ...parts }: OwnEmailParts,
): Promise<Omit<OutgoingMessage, "returnPath"> & { ownReturnPath: string | null }> {
  const sender = parseStoredMailbox(deps.home.sender);
  const from = { ...sender, name: sender.name ?? "Backstamp" };
  const draft: Draft = {
    from,
    to: [recipient],
    cc: [],
    replyTo: [],
    subject: content.subject,
    text: renderText(content),
    html: renderHtml(content),
    headers: [],
    isAutomatic: true,
    messageId: `<${messageId}>`,
    date: createdAt,
    boundarySeed: id,
    ...parts,
  };
  const unsigned = composeMessage(draft);
  const { keys, ownReturnPath } = await findDomainOf(deps, from.domain, createdAt);
  const bytes = await signMessage(unsigned, keys, createdAt);
  const signatureBytes = bytes.length - unsigned.length;
  return { id, bytes, smtpUtf8: needsSmtpUtf8(draft), signatureBytes, messageId, ownReturnPath };
}

async function readEmailData(
  deps: Deps,
  { id, kind, details, expiresAt }: StoredSystemEmail,
  { address }: Mailbox,
): Promise<SystemEmailData | null> {
  const { url } = deps.home;
  const data = {
    kind,
    host: new URL(url).host,
    settingsUrl: `${url}/console/settings/profile`,
    expiresAt,
    ...openDetails(deps.vault, { id, kind, details }),
  } as OpenedDetails;
  switch (data.kind) {
    case "sign_in_link":
    case "password_reset": {
      const user = await findUser(deps, address);
      if (!user) return null;
      const minutes = LINK_MINUTES[data.kind];
      const input = { purpose: data.kind, userId: user.id, minutes, isMailed: true };
      const token = await createSignInToken(deps, input);
      return { ...data, url: signInLinkUrl(deps.home, data.kind, token, data.landing) };
    }
    case "new_device":
      if (!(await findUser(deps, address))) return null;
      break;
    case "alert":
      data.items = await keepAllowedItems(deps, address, data.items);
      if (data.items.length === 0) return null;
      break;
    case "team_deletion":
      if (!(await isDeletionReader(deps, { ...data, address }))) return null;
  }
  return { ...data, url: `${url}${data.path}` };
}

/**
 * The DKIM keys and the own return path of the sender's domain. A domain is verified for one team at a time,
 * so those of this team apply.
 */
async function findDomainOf(
  deps: Pick<Deps, "hot" | "vault">,
  domain: string,
  acceptedAt: Date,
): Promise<{ keys: SigningKey[]; ownReturnPath: string | null }> {
  const [found] = await deps.hot<{ id: string; teamId: string; ownReturnPath: string | null }[]>`
    select d.id, d.team_id as "teamId",
      ${deps.hot.unsafe(ownReturnPathAt("d", "e.accepted_at"))} as "ownReturnPath"
    from domains d cross join (select ${acceptedAt}::timestamptz as accepted_at) e
    where d.name = ${domain} and d.status = 'verified' limit 1`;
  if (!found) return { keys: [], ownReturnPath: null };
  const { id: domainId, teamId, ownReturnPath } = found;
  return {
    keys: keysAt(await listSigningKeys(deps, { teamId, domainId, domain }), acceptedAt),
    ownReturnPath,
  };
}
