import { expect, test } from "vitest";
import { scanEmails } from "#server/services/emails/read/list";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";
import { setStatus } from "../support/set-status";

const console = await openConsole();
const ann = await createRoleTeam(console, "Ann's");

const recipient = "delivered@backstamp.test";

async function sendAs(status: string, subject: string): Promise<string> {
  const mail = { sender: "ann@backstamp.test", to: [recipient], subject };
  const { id } = await console.world.send(mail, ann.ctx);
  await setStatus(console.world.hot, id, status);
  return id;
}

test("several statuses are listed in one order over all pages, and what can be retried of them is retried", async () => {
  const subject = "Several";
  const emails: { id: string; status: string }[] = [];
  for (const status of ["failed", "delivered", "bounced", "failed", "deferred", "bounced", "failed"]) {
    emails.unshift({ id: await sendAs(status, subject), status });
  }
  const wanted = emails.filter(({ status }) => status === "failed" || status === "bounced");
  const filters = [{}, { subject }, { recipient }];
  for (const filter of filters) {
    const read = (page: object) =>
      scanEmails(ann.ctx, { status: ["bounced", "failed"], ...filter, ...page, limit: 2 });
    const pages = [await read({})];
    while (pages.at(-1)?.hasMore) pages.push(await read({ after: pages.at(-1)?.rows.at(-1)?.id }));
    const found = pages.flatMap(({ rows }) => rows.map(({ id }) => id));
    expect(found).toEqual(wanted.map(({ id }) => id));
    const { rows } = await read({ before: wanted.at(-1)?.id });
    expect(rows.map(({ id }) => id)).toEqual(wanted.slice(2, 4).map(({ id }) => id));
  }
  const listed = await ann.call("member", "emails.list", { status: "failed,bounced,failed" });
  expect(listed).toMatchObject({ ok: true, data: { rows: wanted.map(({ id }) => ({ id })) } });
  const matching = { status: "failed,delivered", acceptDuplicates: false };
  const counted = await ann.call("member", "emails.countRetryable", matching);
  expect(counted).toMatchObject({ ok: true, data: { count: 3, hasMore: false, isPartial: false } });
  expect(await ann.call("member", "emails.retryMatching", matching)).toMatchObject({
    data: { mails: 3 },
  });
  const wrong = await ann.call("member", "emails.list", { status: "failed,lost" });
  expect(wrong).toMatchObject({ ok: false, code: "BAD_REQUEST" });
});
