import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { EMAIL_OPTIONS, emails as emailsTable } from "#db/schema/emails";
import { snakeCase } from "#db/statement";
import type { Ctx } from "#server/deps";
import { formatMailbox, type Mailbox, parseLongMailbox } from "#server/mail/address/address";
import { AppError } from "#server/platform/errors";
import { newId } from "#server/platform/ids";
import { foldAddress } from "#server/shared/text/fold-address";
import { findUnsubscribeTag } from "#server/shared/text/unsubscribe-tags";
import type { EmailSummary } from "#server/shared/wire/email";
import type { Presented } from "#server/shared/wire/shapes";
import { getPublishedTemplate } from "../../templates/read";
import { fillVersion, type VariableValues } from "../../templates/render";
import type { HotTransaction } from "../status";
import { collectAttachments, fetchDeadlineMs } from "./attachments";
import {
  type AcceptedEmail,
  type AcceptedRecipient,
  insertSubmissions,
  lockIdempotencyKey,
} from "./insert-submissions";
import type { AttachmentInput } from "./message-input";
import { parseScheduledAt } from "./schedule";
import { checkListUnsubscribe, checkProviderControl, checkSender } from "./sender";

type Options = Pick<EmailSummary, (typeof EMAIL_OPTIONS)[number]>;

const OPTIONS = EMAIL_OPTIONS.map((option) => ({
  option,
  field: snakeCase(option),
  otherwise: emailsTable[option].default ?? null,
}));

const readOptions = (given: object, name: "option" | "field") =>
  Object.fromEntries(
    OPTIONS.map((each) => [each.option, (given as Record<string, unknown>)[each[name]] ?? each.otherwise]),
  ) as Options;

/** The options of an email, each with its default if it has none. */
export const optionsOf = (email: Partial<Options>): Options => readOptions(email, "option");

type OptionFields = Omit<Partial<Presented<Options>>, "list_unsubscribe"> & {
  list_unsubscribe?: boolean | { list: string } | undefined;
};

/** The same for the fields of a request. Without `list_unsubscribe` the content decides. */
export function optionsOfFields({ list_unsubscribe: given, ...fields }: OptionFields) {
  const listName = typeof given === "object" ? given.list : null;
  return {
    ...readOptions(fields, "field"),
    listUnsubscribe: listName === null ? ((given as boolean | undefined) ?? null) : true,
    listName,
  };
}

/** An email as the caller submits it, with its addresses parsed. */
export type NewEmail = Partial<Omit<Options, "listUnsubscribe">> & {
  /** Null or absent: whether the content has a tag for the unsubscribe link. */
  listUnsubscribe?: boolean | null;
  from: Mailbox | null;
  to: Mailbox[];
  cc: Mailbox[];
  bcc: Mailbox[];
  replyTo: Mailbox[];
  subject: string | null;
  html: string | null;
  /** "": no text part. null: the text part is derived from the HTML. */
  text: string | null;
  /** What may be tracked, if the sender's domain tracks it; default: both. */
  tracks?: { opens: boolean; clicks: boolean };
  template: { id: string; variables: VariableValues } | null;
  attachments: AttachmentInput[];
  /** The send time as the caller wrote it; null: immediately. */
  scheduledAt: string | null;
  /**
   * The whole message, if a program submitted it over SMTP. It is sent in these bytes; the other fields then
   * describe it. `messageId`: that of the message, without angle brackets; null if it has none. `fieldNames`
   * are in lower case.
   */
  raw?: { bytes: Uint8Array; messageId: string | null; fieldNames: string[] };
  /** A program submitted it over SMTP: its envelope has recipients, and all of them may be hidden ones. */
  isSubmitted?: boolean;
};

/**
 * Identifies a repeated request by its idempotency key and body fingerprint; `status` is the HTTP status to
 * replay.
 */
export type Once = { route: string; key: string; fingerprint: Uint8Array; status: number };

/** Another request with the same key was committed first. Respond with its stored response. */
export class IdempotencyKeyTaken extends Error {}

/**
 * Accepts one email. When it returns, message, recipients, first event and idempotency record are committed
 * together, and the email will be delivered, or its failure recorded with the reason. 403 if the key is not
 * linked to the sender's domain; 422 if the email cannot be sent as it is.
 */
export async function sendEmail(ctx: Ctx, input: NewEmail, once?: Once): Promise<{ id: string }> {
  const email = await prepareEmail(ctx, input);
  return acceptOnce(ctx, [email], { id: email.id }, once);
}

/** Commits emails and the response, which repeats of the call get. */
async function acceptOnce<T>(ctx: Ctx, emails: AcceptedEmail[], answer: T, once?: Once): Promise<T> {
  const written = await ctx.accept({
    emails: emails.map((email) => ({ idempotencyKey: once?.key, ...email })),
    idempotency: once && { teamId: ctx.teamId, ...once, answer },
  });
  if (!written) throw new IdempotencyKeyTaken();
  ctx.wake();
  return answer;
}

/**
 * The same, in one transaction with what `alongside` writes, such as the audit entry of the member who sends
 * it. Costs more than a shared statement, so it is used only for emails that members send in the console. A
 * concurrent call with the same key waits for the first one.
 */
export async function sendEmailWith(
  ctx: Ctx,
  input: NewEmail,
  alongside: (tx: HotTransaction, id: string) => Promise<void>,
  once?: Once,
): Promise<{ id: string }> {
  const email = await prepareEmail(ctx, input);
  const answer = { id: email.id };
  const idempotency = once && { teamId: ctx.teamId, ...once, answer };
  await ctx.hot.begin(async (tx) => {
    if (idempotency) await lockIdempotencyKey(tx, idempotency);
    const [written] = await insertSubmissions(ctx.hot, [{ emails: [email], idempotency }], tx);
    if (written !== "written") throw new IdempotencyKeyTaken();
    await alongside(tx, email.id);
  });
  ctx.wake();
  return answer;
}

/** Makes all decisions about one email: its sender, content and recipients. Writes nothing. */
export async function prepareEmail(
  ctx: Ctx,
  input: NewEmail,
  deadlineMs = fetchDeadlineMs(),
): Promise<AcceptedEmail> {
  const content = input.template
    ? await renderTemplate(ctx, input, input.template)
    : { templateId: null, templateVersionId: null, source: input, ...input };
  if (!content.from) throw missing("from");
  if (input.to.length === 0 && !input.isSubmitted) throw missing("to");
  if (content.subject === null) throw missing("subject");
  if (content.html === null && !content.text && !input.raw) throw missing("html");
  const scheduledAt = input.scheduledAt === null ? null : parseScheduledAt(ctx, input.scheduledAt);
  const status = scheduledAt ? "scheduled" : "queued";
  // Each address once, even if it is in several fields or spellings: a recipient never gets the same email
  // twice.
  const byAddress = new Map<string, AcceptedRecipient>();
  for (const kind of ["to", "cc", "bcc"] as const)
    for (const { address, domain } of input[kind]) {
      const folded = foldAddress(address);
      if (!byAddress.has(folded)) byAddress.set(folded, { id: newId(), kind, address, domain, status });
    }
  const recipients = [...byAddress.values()];
  const domain = await checkSender(ctx, content.from, recipients);
  const tag = findUnsubscribeTag(content.source.html, content.source.text);
  const listUnsubscribe = input.listUnsubscribe ?? tag !== null;
  const options = optionsOf({ ...input, listUnsubscribe });
  await checkProviderControl(ctx, domain, input.raw?.fieldNames ?? options.headers.map(({ name }) => name));
  if (listUnsubscribe) checkListUnsubscribe(ctx, options.headers, input.listUnsubscribe ? null : tag);
  const tracksOpens = domain.openTracking && (input.tracks?.opens ?? true) && content.html !== null;
  const tracksClicks = domain.clickTracking && (input.tracks?.clicks ?? true) && content.html !== null;
  const id = newId();
  return {
    id,
    teamId: ctx.teamId,
    apiKeyId: ctx.actor.kind === "key" ? ctx.actor.keyId : null,
    sender: formatMailbox(content.from),
    senderAddress: content.from.address,
    senderDomain: content.from.domain,
    to: input.to.map(formatMailbox),
    cc: input.cc.map(formatMailbox),
    bcc: input.bcc.map(formatMailbox),
    replyTo: content.replyTo.map(formatMailbox),
    subject: content.subject,
    tracksOpens,
    tracksClicks,
    trackingHost: tracksOpens || tracksClicks ? domain.trackingHost : null,
    templateId: content.templateId,
    templateVersionId: content.templateVersionId,
    messageId: input.raw?.messageId ?? `${id}@${content.from.domain}`,
    status,
    scheduledAt,
    html: content.html,
    text: content.text,
    ...(input.raw && { raw: input.raw.bytes }),
    eventId: newId(),
    traceparent: ctx.traceparent,
    recipients,
    attachments:
      input.attachments.length > 0 ? await collectAttachments(ctx, input.attachments, deadlineMs) : [],
    ...options,
  };
}

/** The required fields, and how to fix a missing one. */
const REQUIRED = {
  from: "Set the sender: ann@example.com or Ann <ann@example.com>.",
  to: "Set one recipient as a string, or several as an array of strings.",
  subject: "Set the subject, or use a template that has one.",
  html: "Set `html`, `text` or a `template`.",
} as const;

const missing = (field: keyof typeof REQUIRED) =>
  new AppError("missing_field", `Missing \`${field}\` field. ${REQUIRED[field]}`, {
    field,
    plain: REQUIRED[field],
  });

/**
 * The content of an email that uses a template: its published version, rendered; `from`, `subject` and
 * `reply_to` of the email override the template's. `html` or `text` beside a template are rejected: it would
 * be unclear which of them applies.
 */
async function renderTemplate(
  ctx: Ctx,
  { from, replyTo, subject, html, text }: NewEmail,
  template: NonNullable<NewEmail["template"]>,
) {
  if (html !== null || text !== null)
    throw new AppError("invalid", "Set either `html` and `text`, or `template`, not both.");
  const { id, version } = await getPublishedTemplate(ctx, template.id).catch((error) => {
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    throw new AppError("not_found", `Invalid \`template.id\`: this team has no template ${template.id}.`);
  });
  const filled = fillVersion(version, template.variables, "template.variables", subject);
  await ctx.claim?.expand(filled.html.length + (filled.text?.length ?? 0));
  return {
    from: from ?? (version.sender === null ? null : mailboxOf("from", version.sender)),
    replyTo:
      replyTo.length > 0 ? replyTo : (version.replyTo ?? []).map((address) => mailboxOf("reply_to", address)),
    subject: filled.subject,
    html: filled.html,
    text: filled.text,
    templateId: id,
    templateVersionId: version.id,
    // Not the values: a tag in another person's text must not make an ordinary email one of a list.
    source: version,
  };
}

/** Parses a mailbox of a template; the error names `field`. */
export function mailboxOf(field: string, source: string): Mailbox {
  const read = parseLongMailbox(source);
  if (!read.ok)
    throw new AppError("invalid", `The template's \`${field}\`: ${read.fault}`, { field, plain: read.fault });
  return read.mailbox;
}

export const batchMax = 100;

export type BatchResult = { data: { id: string }[]; errors: { index: number; message: string }[] };

/**
 * Accepts up to 100 emails in one statement. `strict`: one invalid email rejects the whole batch; the error
 * names its index. `permissive`: the valid emails are accepted in order, and each invalid one is listed with
 * its error. An item that could not be parsed is passed as its AppError.
 */
export async function sendBatch(
  ctx: Ctx,
  items: readonly (NewEmail | AppError)[],
  mode: "strict" | "permissive",
  once?: Once,
): Promise<BatchResult> {
  const { emails, errors } = await prepareBatch(ctx, items, mode);
  const accepted = emails.map(({ email }) => email);
  return acceptOnce(ctx, accepted, { data: accepted.map(({ id }) => ({ id })), errors }, once);
}

/**
 * Makes all decisions about a batch: the emails that can be sent, with their indexes, and why the others
 * cannot. Writes nothing.
 */
export async function prepareBatch(
  ctx: Ctx,
  items: readonly (NewEmail | AppError)[],
  mode: "strict" | "permissive",
): Promise<{ emails: { index: number; email: AcceptedEmail }[]; errors: BatchResult["errors"] }> {
  const emails: { index: number; email: AcceptedEmail }[] = [];
  const errors: BatchResult["errors"] = [];
  const deadlineMs = fetchDeadlineMs();
  for (const [index, item] of items.entries()) {
    try {
      if (item instanceof AppError) throw item;
      emails.push({ index, email: await prepareEmail(ctx, item, deadlineMs) });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { code, message, details } = error;
      if (mode === "strict") throw new AppError(code, `[${index}]: ${message}`, { cause: error, details });
      errors.push({
        index,
        message: code === "forbidden" ? `Insufficient API key permissions: ${message}` : message,
      });
    }
    // A hundred large emails must not delay the requests of other teams.
    await yieldToEventLoop();
  }
  return { emails, errors };
}
