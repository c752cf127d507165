import type { HotSql } from "#db/client";
import type { Ctx } from "#server/deps";
import { firstId } from "#server/platform/ids";
import { recordAudit } from "../audit/record";
import { findErasedForm } from "./address";
import { listConcerned } from "./emails";
import { createEraser, type Eraser } from "./mentions";
import { findTemplates, listRecords } from "./records";

/** Emails that one statement reads. */
const emailsMax = 200;
/** A multiple of three, so that the parts of a base64 text can be joined. */
const partBytes = 768 * 1024;
const excerptChars = 200;

type Line = Record<string, unknown> & { type: string };

const lineOf = (line: Line): string => `${JSON.stringify(line)}\n`;

/**
 * Everything that is stored for an address in a team, as lines of JSON, read from the database as they are
 * consumed: one email, or a part of a file, is in memory at a time. Emails to or from the address are
 * complete, without the hidden recipients (bcc) and the results of others. Where only a text mentions the
 * address, the line has the place and the text around it, because the rest is about other people. Accounts of
 * the console are not part of it. Recorded in the audit log before the first line.
 */
export async function* exportAddress(ctx: Ctx, address: string): AsyncGenerator<string> {
  const { hot, teamId } = ctx;
  const { folded, hash } = await findErasedForm(ctx, address);
  const eraser = createEraser(folded);
  await recordAudit(ctx.db, ctx, { action: "address.exported", detail: { address_hash: hash } });
  yield lineOf({
    type: "export",
    address: folded,
    team_id: teamId,
    created_at: ctx.clock().toISOString(),
    note: "Emails, suppressions, and records of requests, webhooks and changes. Accounts of the console (users, members, invitations) and backups are not included.",
  });
  const entries = await hot`
    select address, origin, lists_only, lists, source_email_id, created_at from suppressions
    where team_id = ${teamId} and address = any(${[hash, ...eraser.spellings]}::text[])`;
  for (const entry of entries) yield lineOf({ type: "suppression", ...entry });
  yield* exportEmails(hot, teamId, eraser);
  for await (const { table, key, row } of listRecords(hot, { teamId, eraser }))
    yield* mentionOf(eraser, { table, key }, row);
  for (const { id, name, texts } of await findTemplates(hot, teamId, eraser))
    yield* mentionOf(eraser, { table: "templates", id, name }, texts);
  yield lineOf({ type: "end" });
}

async function* exportEmails(hot: HotSql, teamId: string, eraser: Eraser): AsyncGenerator<string> {
  for (let after = firstId; ; ) {
    const read = await hot<{ id: string }[]>`
      select id from emails where team_id = ${teamId} and id > ${after} order by id limit ${emailsMax}`;
    const ids = read.map(({ id }) => id);
    for (const id of await listConcerned(hot, { teamId, eraser }, ids))
      yield* exportEmail(hot, { teamId, id }, eraser);
    const last = ids.at(-1);
    if (last === undefined || ids.length < emailsMax) return;
    after = last;
  }
}

type Row = Record<string, unknown>;

async function* exportEmail(
  hot: HotSql,
  { teamId, id }: { teamId: string; id: string },
  eraser: Eraser,
): AsyncGenerator<string> {
  const [email] = await hot<(Row & { bcc: string[]; sender_address: string })[]>`
    select id, created_at, scheduled_at, sender, sender_address, "to", cc, bcc, reply_to, subject, tags, headers, message_id, status
    from emails where team_id = ${teamId} and id = ${id}`;
  if (!email) return;
  const [{ isRaw, ...body } = { isRaw: false }] = await hot<(Row & { isRaw: boolean })[]>`
    select html, coalesce(text, made_text) as text, idempotency_key, raw is not null as "isRaw"
    from email_bodies where team_id = ${teamId} and email_id = ${id}`;
  const deliveries = await hot<(Row & { id: string; address: string })[]>`
    select id, kind, address, status, attempts, last_code, last_enhanced, last_text, last_host, last_reason, updated_at
    from deliveries where team_id = ${teamId} and email_id = ${id} order by position`;
  const events = await hot<(Row & { delivery_id: string | null; recipient: string | null })[]>`
    select id, type, delivery_id, recipient, data, created_at from email_events
    where team_id = ${teamId} and email_id = ${id} order by id`;
  const own = deliveries.filter(({ address }) => eraser.isAddress(address));
  if (own.length === 0 && !eraser.isAddress(email.sender_address)) {
    const place = { table: "emails", id, created_at: email.created_at };
    return yield* mentionOf(eraser, place, { ...email, ...body, deliveries, events });
  }
  const isOwn = (event: (typeof events)[number]) =>
    event.recipient === null || own.some((delivery) => delivery.id === event.delivery_id);
  yield lineOf({
    type: "email",
    ...email,
    bcc: email.bcc.filter((text) => eraser.isMailbox(text)),
    ...body,
    deliveries: own,
    events: events.filter(isOwn),
  });
  const files = await hot<{ id: string; filename: string | null; content_type: string }[]>`
    select id, filename, content_type from attachments
    where team_id = ${teamId} and email_id = ${id} order by position`;
  for (const { id: fileId, ...file } of files)
    yield* exportBytes(
      { type: "file", email_id: id, ...file },
      (from) => hot<Part[]>`
        select substring(content from ${from}::int for ${partBytes}::int) as bytes from attachments
        where team_id = ${teamId} and email_id = ${id} and id = ${fileId}`,
    );
  const copies = await hot<{ id: string; kind: string }[]>`
    select id, kind from return_copies where team_id = ${teamId} and email_id = ${id}
      and delivery_id = any(${own.map((delivery) => delivery.id)}::uuid[]) and message is not null order by id`;
  for (const { id: copyId, kind } of copies)
    yield* exportBytes(
      { type: "returned_message", email_id: id, kind },
      (from) => hot<Part[]>`
        select substring(message from ${from}::int for ${partBytes}::int) as bytes from return_copies
        where team_id = ${teamId} and id = ${copyId}`,
    );
  // A submitted message has no header with its hidden recipients.
  if (isRaw)
    yield* exportBytes(
      { type: "message", email_id: id },
      (from) => hot<Part[]>`
        select substring(raw from ${from}::int for ${partBytes}::int) as bytes from email_bodies
        where team_id = ${teamId} and email_id = ${id}`,
    );
}

type Part = { bytes: Uint8Array | null };

/** One line with bytes in base64, read in parts. */
async function* exportBytes(
  line: Line,
  read: (from: number) => PromiseLike<readonly Part[]>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(line).slice(0, -1)},"content_base64":"`;
  for (let from = 1; ; from += partBytes) {
    const [part] = await read(from);
    if (!part?.bytes?.length) break;
    yield Buffer.from(part.bytes).toString("base64");
    if (part.bytes.length < partBytes) break;
  }
  yield '"}\n';
}

/** The line for a row that is about other people, if it contains the address. */
function* mentionOf(eraser: Eraser, place: Record<string, unknown>, row: unknown): Generator<string> {
  const excerpts = excerptsOf(eraser, row);
  if (excerpts.length > 0) yield lineOf({ type: "mention", ...place, excerpts });
}

/** The texts of a value that contain the address, shortened to what stands around it. */
function excerptsOf(eraser: Eraser, value: unknown): string[] {
  if (typeof value === "string") {
    const at = eraser.indexOf(value);
    return at === -1
      ? []
      : [value.slice(Math.max(0, at - excerptChars), at + eraser.folded.length + excerptChars)];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((item) => excerptsOf(eraser, item));
}
