import { beforeAll, expect, test } from "vitest";
import { tick } from "#server/delivery/tick";
import { createUser } from "#server/services/people/users";
import { createTeam } from "#server/services/teams";
import { createWebhook } from "#server/services/webhooks/endpoints";
import { presentEmail } from "#server/shared/wire/email";
import { forAllTests } from "../support/fixtures";
import { commandsOf } from "../support/processes/command-line";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());
let others: Awaited<ReturnType<typeof createTeam>>;
beforeAll(async () => {
  others = await createTeam(world.deps, { name: "Others" });
});

const { cli, cliJson } = commandsOf(() => ({ DATABASE_URL: world.databaseUrl }));

test("user list shows all users with their teams and roles, or one team's members", async () => {
  const password = "correct horse battery";
  const ann = {
    email: "ann@example.com",
    password,
    name: "Ann",
    teamId: world.ctx.teamId,
    role: "owner",
  } as const;
  const { id } = await createUser(world.deps, ann);
  await world.hot`insert into memberships (team_id, user_id, role) values (${others.id}, ${id}, 'viewer')`;
  await createUser(world.deps, { email: "ben@example.com", password, teamId: others.id, role: "member" });

  const all = await cliJson(["user", "list"]);
  expect(all.data).toEqual([
    {
      id,
      email: "ann@example.com",
      name: "Ann",
      teams: [
        { id: world.ctx.teamId, name: "First", role: "owner" },
        { id: others.id, name: "Others", role: "viewer" },
      ],
      last_seen_at: null,
      created_at: expect.stringMatching(/Z$/),
    },
    expect.objectContaining({ email: "ben@example.com", name: null }),
  ]);
  expect(JSON.stringify(all)).not.toMatch(/scrypt|password/);

  const first = await cli(["user", "list", "--team", "First"]);
  expect(first.stdout).toMatch(/^ID +EMAIL +NAME +TEAMS +LAST SEEN\n/);
  expect(first.stdout).toMatch(/ann@example\.com +Ann +First \(owner\), Others \(viewer\) +never\n/);
  expect(first.stdout).not.toContain("ben@example.com");
});

test("email list shows the newest emails of one team, with filters and paging", async () => {
  const ids: string[] = [];
  for (const subject of ["One", "Two", "Three"]) ids.push((await world.send({ subject })).id);
  await world.send({ subject: "To Cleo", to: ["cleo@example.net"] });

  const page = await cliJson([
    "email",
    "list",
    "--limit",
    "2",
    "--subject",
    "t",
    "--recipient",
    "ben@example.net",
  ]);
  expect(page).toMatchObject({ has_more: false, data: [{ subject: "Three" }, { subject: "Two" }] });
  const newest = await cliJson(["email", "list", "--limit", "2"]);
  expect(newest).toMatchObject({ has_more: true, data: [{ subject: "To Cleo" }, { subject: "Three" }] });

  const rest = await cli(["email", "list", "--limit", "1", "--after", ids[2] ?? ""]);
  expect(rest.stdout).toMatch(/^ID +CREATED AT +STATUS +FROM +TO +SUBJECT\n/);
  expect(rest.stdout).toMatch(new RegExp(`^${ids[1]} .*queued .*ben@example\\.net +Two$`, "m"));
  expect(rest.stdout).not.toContain("One");
  expect(rest.stderr).toContain(`--after ${ids[1]}`);

  expect(await cli(["email", "list", "--team", "Others"])).toMatchObject({ code: 0, stdout: "" });
  const wrong = await cli(["email", "list", "--status", "lost"]);
  expect(wrong).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/Invalid `status`: .*bounced/),
  });
});

test("webhook list shows the endpoints of one team without their secrets", async () => {
  const input = {
    url: "https://example.com/hook",
    events: ["email.bounced", "email.delivered"],
    status: "enabled",
  };
  const { id, signingSecret } = await createWebhook(world.ctx, input as Parameters<typeof createWebhook>[1]);
  const { data } = await cliJson(["webhook", "list"]);
  expect(data).toEqual([
    expect.objectContaining({ id, endpoint: input.url, events: input.events, status: "enabled" }),
  ]);
  const { stdout } = await cli(["webhook", "list"]);
  expect(stdout).toMatch(/^ID +ENDPOINT +STATUS +EVENTS +FAILING SINCE\n/);
  expect(stdout).toContain("email.bounced, email.delivered");
  expect(stdout + JSON.stringify(data)).not.toContain(signingSecret);
  expect(await cli(["webhook", "list", "--team", "Others"])).toMatchObject({ code: 0, stdout: "" });
});

test("email show prints each recipient's reply with its meaning, the next attempt, and the timeline", async () => {
  const { id } = await world.send({
    sender: "Ann <ann@backstamp.test>",
    to: ["bounced@backstamp.test", "deferred@backstamp.test"],
    subject: "Hello \u001b[2J\u202e there",
  });
  await tick(world.withTransport(), { budgetMs: 60_000 });
  const { stdout } = await cli(["email", "show", id]);
  expect(stdout).toMatch(/Status +bounced/);
  expect(stdout).toMatch(/Address +bounced@backstamp\.test\n +Kind +to\n +Status +bounced\n +Attempts +1\n/);
  expect(stdout).toMatch(/Code +550\n +Enhanced +5\.1\.1\n/);
  expect(stdout).toMatch(/Reason +.*mailbox does not exist/);
  expect(stdout).toMatch(/Advice +\S/);
  expect(stdout).toMatch(/Address +deferred@backstamp\.test\n +Kind +to\n +Status +deferred\n/);
  expect(stdout).toMatch(/Code +451\n +Enhanced +4\.7\.0\n/);
  expect(stdout).toMatch(/Next attempt at +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ\n +Rule +\S+\n +Rule text +\S/);
  expect(stdout).toMatch(/Timeline\nCREATED AT .*\n\S+ \S+ +email\.queued/);
  expect(stdout).toMatch(/email\.bounced +bounced@backstamp\.test +1 +\S/);
  // Email content must not contain terminal control characters.
  expect(stdout).not.toContain("\u001b");
  expect(stdout).not.toContain("\u202e");

  const json = await cliJson(["email", "show", id]);
  expect(json).toEqual(JSON.parse(JSON.stringify(presentEmail(await world.email(id)))));
});

test("another team's email is not found", async () => {
  const { id } = await world.send();
  const shown = await cli(["email", "show", id, "--team", others.id]);
  expect(shown).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^backstamp: Email not found in team Others\. .*--team.*\n$/),
  });
});

test("request list shows the newest requests of a key, and why they were rejected", async () => {
  const key = await world.key({ domains: [] });
  const email = { from: "ann@mine.example", to: "ben@example.net", subject: "x", html: "x" };
  await world.api("POST", "/api/emails", { token: key.token, body: email });
  await world.api("GET", "/api/domains", { token: key.token });
  await world.deps.requestLog.flush();
  const { data } = await cliJson(["request", "list", "--key", key.id]);
  expect(data).toMatchObject([
    { endpoint: "/domains", response_status: 200, rejection: null },
    { endpoint: "/emails", response_status: 403, rejection: { reason: "domain_not_linked" } },
  ]);
  const { stdout } = await cli(["request", "list", "--status", "rejected", "--key", key.id]);
  expect(stdout).toMatch(/POST +\/emails +403 +This key .*mine\.example.*verify/);
  expect(stdout).not.toContain("/domains");
  expect((await cliJson(["request", "list", "--team", "Others"])).data).toEqual([]);
});
