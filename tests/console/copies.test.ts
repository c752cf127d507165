import { expect, test } from "vitest";
import { addDomain } from "#server/services/domains/write";
import { openConsole } from "../support/console/console";
import { createRoleTeam } from "../support/console/role-teams";

const names = { mailHost: null, returnPathDomain: null, webHost: null };
const console = await openConsole({ transportKind: "relay", names });
const ann = await createRoleTeam(console, "Ann's");
const bob = await createRoleTeam(console, "Bob's");
const mailboxes = { bounceCopiesTo: "ops@oak.example", replyCopiesTo: null };

test("admins set the mailboxes of the team and of a domain, viewers see them, and the change is in the audit log", async () => {
  const { id } = await addDomain(ann.ctx, { name: "oak.example", verified: true });
  expect(await ann.call("member", "team.setCopies", { domain: null, mailboxes })).toMatchObject({
    ok: false,
    code: "FORBIDDEN",
  });
  await ann.data("admin", "team.setCopies", { domain: null, mailboxes });
  const shown = await ann.data("viewer", "team.copies", { domain: id });
  expect(shown).toMatchObject({ ...mailboxes, isOfTeam: true });
  const own = { bounceCopiesTo: null, replyCopiesTo: "hello@oak.example" };
  await ann.data("admin", "team.setCopies", { domain: id, mailboxes: own });
  expect(await ann.data("viewer", "team.copies", { domain: id })).toMatchObject({ ...own, isOfTeam: false });
  expect(await ann.data("viewer", "team.copies", { domain: null })).toMatchObject(mailboxes);
  expect(await ann.audit({ action: "team.changed" })).toMatchObject([
    { actor: "user", actorId: ann.userIds.admin, detail: { bounce_copies_to: "ops@oak.example" } },
  ]);
  expect(await ann.audit({ action: "domain.changed" })).toMatchObject([
    { subjectId: id, detail: { bounceCopiesTo: "", replyCopiesTo: "hello@oak.example" } },
  ]);
  await ann.data("admin", "team.setCopies", { domain: id, mailboxes: null });
  expect(await ann.data("viewer", "team.copies", { domain: id })).toMatchObject(mailboxes);
  for (const procedure of ["team.copies", "team.setCopies"])
    expect(
      await bob.call("owner", procedure, {
        domain: id,
        ...(procedure === "team.setCopies" && { mailboxes: null }),
      }),
    ).toMatchObject({ ok: false, code: "NOT_FOUND" });
});

test("an address that may not have copies is rejected, and the page says why no copies arrive", async () => {
  const foreign = { bounceCopiesTo: null, replyCopiesTo: "ops@oak.example" };
  expect(await bob.call("owner", "team.setCopies", { domain: null, mailboxes: foreign })).toMatchObject({
    ok: false,
    code: "UNPROCESSABLE_CONTENT",
    message: expect.stringMatching(/^Replies: ops@oak\.example cannot have copies\. Enter an address at a/),
  });
  const { faults } = await ann.data<{ faults: string[] }>("viewer", "team.copies", { domain: null });
  expect(faults).toEqual([expect.stringContaining("Set BACKSTAMP_INBOUND_PORT")]);
});
