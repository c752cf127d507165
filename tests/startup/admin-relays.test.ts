import { expect, test } from "vitest";
import { forAllTests } from "../support/fixtures";
import { runCommand } from "../support/processes/command-line";
import type { StartOptions } from "../support/processes/processes";
import { EHLO_AUTH, startSmtpTestServer } from "../support/servers/smtp-test-server";
import { createWorld } from "../support/world";

const secret = "an installation's secret, long enough";
const password = "pass-never-shown";

const world = forAllTests(() => createWorld({ secret }));
const peer = forAllTests(() =>
  startSmtpTestServer({
    ehlo: EHLO_AUTH,
    auth: () => (isLoginAccepted ? "235 welcome" : "535 5.7.8 no"),
  }),
);
let isLoginAccepted = true;

const said: string[] = [];

/** Runs the real command and records its output. */
async function relay(args: string[], more: Partial<StartOptions> = {}) {
  const done = await runCommand(["relay", ...args], {
    ...more,
    env: { DATABASE_URL: world.databaseUrl, BACKSTAMP_SECRET: secret, ...more.env },
  });
  said.push(done.stdout, done.stderr);
  return done;
}

async function relayJson(args: string[], more: Partial<StartOptions> = {}) {
  const { code, stdout, stderr } = await relay([...args, "--json"], more);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const names = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name);

async function expectNoPassword(): Promise<void> {
  const rows = await world.hot`select to_jsonb(r)::text as row from relays r`;
  expect(JSON.stringify([said, rows])).not.toContain(password);
}

test("a relay is added for all teams, a team or a domain, and shown without its password", async () => {
  const url = `smtp://user:${password}@127.0.0.1:${peer.port}`;
  const main = await relayJson(["add", "main", url]);
  expect(main).toMatchObject({
    name: "main",
    team: null,
    domain: null,
    position: 1,
    host: `127.0.0.1:${peer.port}`,
    dkim: true,
    provider: null,
    state: "untested",
  });
  const ses = await relayJson(["add", "ses", "-"], {
    input: `smtp://user:${password}@email-smtp.eu-west-1.amazonaws.com:587\n`,
  });
  expect(ses).toMatchObject({ position: 2, provider: "ses", dkim: false });

  await world.domain("other.example");
  const options = ["--team", "First", "--domain", "other.example", "--dkim", "off", "--position", "5"];
  const own = await relayJson(["add", "main", "smtps://smtp.example.com", ...options]);
  expect(own).toMatchObject({ team: "First", domain: "other.example", position: 5, dkim: false });

  expect((await relay(["remove", "main"])).stderr).toContain("Several relays");
  expect(await relayJson(["set", own.id, "--provider", "mailgun", "--dkim", "on"])).toMatchObject({
    provider: "mailgun",
    dkim: true,
  });
  await relayJson(["remove", own.id]);
  expect(names(await relayJson(["list"]))).toEqual(["main", "ses"]);
  await expectNoPassword();
});

test("a relay is tested without an email, and a successful test resumes a paused relay", async () => {
  const { id } = await relayJson(["add", "tested", `smtp://user:${password}@127.0.0.1:${peer.port}`]);
  expect(await relayJson(["test", id])).toMatchObject({ works: true, resumed: true });
  expect(await relayJson(["test", id])).toMatchObject({ works: true, resumed: false });
  expect(peer.commands.filter((line) => line.startsWith("MAIL"))).toEqual([]);

  isLoginAccepted = false;
  const failing = await relay(["test", "tested"]);
  expect(failing.code).toBe(1);
  expect(failing.stderr).toContain("535 5.7.8 no");
  isLoginAccepted = true;
  await world.hot`update relays set paused_until = now() + interval '1 min', last_fault = 'it was away', failures = 1
    where id = ${id}`;
  const list = await relay(["list"]);
  expect(list.stdout).toMatch(new RegExp(`all teams +\\d +tested +127.0.0.1:${peer.port} +on +failing`));
  expect(list.stdout).toContain("it was away");
  expect(await relayJson(["test", id])).toMatchObject({ works: true, resumed: true });
  await expectNoPassword();
});

test("an invalid relay is rejected with a message that does not contain its URL", async () => {
  const wrong: [string[], number, string][] = [
    [["add", "x", `http://user:${password}@example.com`], 1, "must begin with smtp://"],
    [["add", "x", `smtp://user:${password}@10.0.0.1`, "--team", "First"], 1, "BACKSTAMP_EGRESS_ALLOW"],
    [["add", "x", `smtp://user:${password}@127.0.0.1`, "--team", "First"], 1, "BACKSTAMP_EGRESS_ALLOW"],
    [["add", "x", "smtp://example.com", "--position", "0"], 2, "1 to 1000"],
    [["add", "x", "smtp://example.com", "--domain", "nowhere.example"], 1, "not found"],
    [["remove", "nobody"], 1, 'Relay "nobody" not found'],
  ];
  for (const [args, code, sentence] of wrong) {
    const done = await relay(args);
    expect([done.code, done.stdout]).toEqual([code, ""]);
    expect(done.stderr).toContain(sentence);
    expect(done.stderr).not.toContain(password);
  }
});
