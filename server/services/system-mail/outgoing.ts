import type { SystemMailKind } from "#db/schema/system-mails";
import type { Deps } from "#server/deps";
import { type Mailbox, parseMailbox } from "#server/mail/address";
import { composeMessage, needsSmtpUtf8 } from "#server/mail/compose";
import { type SigningKey, signMessage } from "#server/mail/dkim/sign";
import type { OutgoingMessage } from "#server/mail/transport/transport";
import { keysAt, readSigningKeys } from "../domains/signing-keys";
import { linkTo, mintSignInToken } from "../sign-in-tokens";
import { findUser } from "../users";
import { openDetails } from "./details";
import { htmlOf, textOf } from "./layout";
import { LINK_MINUTES } from "./queue";
import { type Subject, wordsOf } from "./texts";

/** A mail of our own as it was kept. */
export type KeptMail = {
  id: string;
  kind: SystemMailKind;
  recipient: string;
  /** Sealed. */
  details: string;
  messageId: string;
  createdAt: Date;
  expiresAt: Date;
};

/**
 * The message of a mail of our own, signed where its sender's domain has a key here; null where nobody has the address. Each
 * call makes a link of its own, which opens from that moment on. Throws where the database is away, where the mail was sealed
 * under another secret, and RangeError where it cannot be composed.
 */
export async function outgoingSystemMail(deps: Deps, mail: KeptMail): Promise<OutgoingMessage | null> {
  const about = await subjectOf(deps, mail);
  if (about === null) return null;
  const sender = mailboxOf(deps.home.sender);
  const from = { ...sender, name: sender.name ?? "Posthorn" };
  const words = wordsOf(about);
  const draft = {
    from,
    to: [mailboxOf(mail.recipient)],
    cc: [],
    replyTo: [],
    subject: words.subject,
    text: textOf(words),
    html: htmlOf(words),
    headers: [],
    isAutomatic: true as const,
    messageId: `<${mail.messageId}>`,
    date: mail.createdAt,
    boundarySeed: mail.id,
  };
  const unsigned = composeMessage(draft);
  const bytes = await signMessage(unsigned, await keysOf(deps, from.domain, mail.createdAt), mail.createdAt);
  return {
    id: mail.id,
    returnPath: from.address,
    bytes,
    smtpUtf8: needsSmtpUtf8(draft),
    signatureBytes: bytes.length - unsigned.length,
    messageId: mail.messageId,
  };
}

async function subjectOf(
  deps: Deps,
  { id, kind, recipient, details, expiresAt }: KeptMail,
): Promise<Subject | null> {
  const { url } = deps.home;
  const { host } = new URL(url);
  if (kind === "invitation") {
    const { path, ...said } = openDetails(deps.vault, { id, kind, details });
    return { kind, host, url: `${url}${path}`, expiresAt, ...said };
  }
  const { landing, device } = openDetails(deps.vault, { id, kind, details });
  const user = await findUser(deps, recipient);
  if (!user) return null;
  const token = await mintSignInToken(deps, {
    purpose: kind,
    userId: user.id,
    minutes: LINK_MINUTES[kind],
    isMailed: true,
  });
  return { kind, host, url: linkTo(deps.home, kind, token, landing), device };
}

/** A name belongs to one team at a time, so its keys are whoever's they are. */
async function keysOf(
  deps: Pick<Deps, "hot" | "vault">,
  domain: string,
  acceptedAt: Date,
): Promise<SigningKey[]> {
  const [found] = await deps.hot<{ id: string; teamId: string }[]>`
    select id, team_id as "teamId" from domains where name = ${domain} and status = 'verified' limit 1`;
  if (!found) return [];
  return keysAt(
    await readSigningKeys(deps, { teamId: found.teamId, domainId: found.id, domain }),
    acceptedAt,
  );
}

function mailboxOf(text: string): Mailbox {
  const read = parseMailbox(text);
  if (!read.ok) throw new RangeError(`a mailbox of our own mail is not readable: ${read.fault}`);
  return read.mailbox;
}
