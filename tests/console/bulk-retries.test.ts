import { beforeEach, describe, expect, test } from "vitest";
import { newId } from "#server/platform/ids";
import { openConsole } from "../support/console/console";
import { createRoleTeam, type RoleTeam } from "../support/console/role-teams";
import { queueMany } from "../support/database/queue-many";
import { setStatus as putInto } from "../support/set-status";

/** The filter of the retries. A part of one has at most 100 emails. */
const filter = { search: "hello", within: "24h", acceptDuplicates: false };

let ann: RoleTeam;
let nth = 0;
const console = await openConsole();
beforeEach(async () => {
  ann = await createRoleTeam(console, `Ann's ${++nth}`);
});

const call = (procedure: string, input: object) => ann.data("member", procedure, input);
const nextOf = (part: unknown) => (part as { next: string | null }).next;
/** The ids of emails, oldest first: to r1@backstamp.test, r2@backstamp.test … */
async function send(count: number): Promise<string[]> {
  const { hot } = console.world;
  await queueMany(hot, { teamId: ann.teamId, domain: "backstamp.test", to: "backstamp.test", count });
  const rows = await hot<{ id: string }[]>`select id from emails where team_id = ${ann.teamId} order by id`;
  return rows.slice(-count).map(({ id }) => id);
}
const setStatus = (ids: string | string[], status: string) => putInto(console.world.hot, ids, status);
const auditOf = () => ann.audit({ action: "email." });

test("a bulk retry of all failures covers each once, although some fail again meanwhile", async () => {
  const ids = await send(105);
  await setStatus(ids, "failed");
  await setStatus(await send(1), "delivered");
  expect(await call("emails.countRetryable", filter)).toMatchObject({ count: 105, hasMore: false });
  const first = await call("emails.retryMatching", filter);
  expect(first).toEqual({ mails: 100, recipients: 100, next: expect.any(String) });
  await setStatus(ids, "failed");
  const second = await call("emails.retryMatching", { ...filter, next: nextOf(first) });
  expect(second).toEqual({ mails: 5, recipients: 5, next: null });
  const batch = { acceptDuplicates: false, filter: ["words hello", "within 24h"] };
  expect(await auditOf()).toMatchObject([{ detail: { ...batch, mails: 105, recipients: 105 } }]);
  // A new command has its own entry, and so has a part with another filter.
  await setStatus(ids.slice(0, 2), "failed");
  const again = await call("emails.retryMatching", filter);
  await setStatus(ids[0] as string, "failed");
  await call("emails.retryMatching", { ...filter, within: "1h", next: nextOf(again) });
  expect((await auditOf()).map(({ detail }) => [detail.filter, detail.mails])).toEqual([
    [batch.filter, 105],
    [batch.filter, 100],
    [["words hello", "within 1h"], 2],
  ]);
  const wrong = { status: "delivered", acceptDuplicates: false };
  expect(await ann.call("member", "emails.retryMatching", wrong)).toMatchObject({ code: "CONFLICT" });
});

describe("a bulk retry in parts is one entry of the audit log", () => {
  const retryPart = (next: string | null = null) => call("emails.retryMatching", { ...filter, next });
  const mailsOf = async () => (await auditOf()).map(({ detail }) => detail.mails);
  let ids: string[];
  beforeEach(async () => {
    ids = await send(101);
  });

  test("apart from an earlier command of the same user, even if its first part changes no email", async () => {
    const oldest = ids[0] as string;
    await setStatus(oldest, "failed");
    await retryPart();
    // The list finds all of them, and only one has a recipient who can be retried.
    await console.world.hot`update emails set status = 'failed' where id = any(${ids}::uuid[])`;
    await setStatus(oldest, "failed");
    const first = await retryPart();
    expect(first).toMatchObject({ mails: 0 });
    expect(await retryPart(nextOf(first))).toMatchObject({ mails: 1, next: null });
    expect(await mailsOf()).toEqual([1, 1]);
  });

  test("although another user retries emails between two parts", async () => {
    await setStatus(ids, "failed");
    const first = await retryPart();
    await setStatus(ids[1] as string, "failed");
    const other = { ...filter, search: "r2@backstamp.test" };
    expect(await ann.call("admin", "emails.retryMatching", other)).toMatchObject({
      data: { mails: 1 },
    });
    expect(await retryPart(nextOf(first))).toMatchObject({ mails: 1, next: null });
    expect(await mailsOf()).toEqual([101, 1]);
  });
});

test("a bulk retry rejects a place of another form", async () => {
  const next = Buffer.from(`{"after":"${newId()}"}`).toString("base64url");
  expect(await ann.call("member", "emails.retryMatching", { ...filter, next })).toMatchObject({
    message: "Start the retry again: its position is not valid.",
  });
});
