import { afterEach, describe, expect, test } from "vitest";
import { silentLog } from "#server/platform/log";
import { createAuthenticate } from "#server/services/keys/authenticate";
import { createKey } from "#server/services/keys/keys";
import { createUser, verifyPassword } from "#server/services/people/users";
import { createTeam } from "#server/services/teams";
import { forAllTests } from "../support/fixtures";
import { commandsOf } from "../support/processes/command-line";
import { killLeftovers, startProcess } from "../support/processes/processes";
import { compiledOf, runProgram } from "../support/processes/program";
import { type Listed, publish, startZone } from "../support/servers/zone";
import { createWorld } from "../support/world";

const anId = "0198c5a2-6f0e-7cc3-a5b1-94e1f3b7c1d2";

const world = forAllTests(() => createWorld());
afterEach(killLeftovers);

const program = "server/startup/admin.ts";
const own = () => ({ DATABASE_URL: world.databaseUrl, BACKSTAMP_URL: "https://mail.example.com" });
const { cli, cliJson } = commandsOf(own);

const knownKey = (token: string) => createAuthenticate(world.hot, () => new Date(), silentLog)(token);

describe("keys", () => {
  test("a new key has the requested permissions only, and its token is shown once", async () => {
    const args = ["--scopes", "emails:send,emails:read", "--domains", "Example.org,backstamp.test"];
    const limits = ["--limit", "POST /api/emails=1000", "--limit", "other=7"];
    const json = await cliJson([
      ...["key", "create", "--name", "app", "--expires", "2999-01-31"],
      ...args,
      ...limits,
    ]);
    expect(json).toMatchObject({
      id: expect.any(String),
      token: expect.stringMatching(/^re_/),
      name: "app",
      expires_at: "2999-01-31T00:00:00.000Z",
    });
    expect(await knownKey(json.token)).toMatchObject({
      id: json.id,
      teamId: world.ctx.teamId,
      scopes: ["emails:send", "emails:read"],
      allDomains: false,
      limits: { "POST /api/emails": 1000, other: 7 },
      domains: expect.toSatisfy(
        (domains: { name: string }[]) =>
          domains
            .map(({ name }) => name)
            .sort()
            .join() === "backstamp.test,example.org",
      ),
    });
    const listed = await cli(["key", "list"]);
    expect(listed.stdout).toContain(json.id);
    expect(listed.stdout).not.toContain(json.token.split("_")[2]);
  });

  test("without --domains a key is linked only to backstamp.test, and the output says so", async () => {
    const args = ["key", "create", "--name", "first", "--scopes", "sending_access"];
    expect((await cli(args)).stderr).toMatch(/only from backstamp\.test/);
    const past = ["--expires", "2020-01-01T00:00:00+01:00"];
    const json = await cliJson([...args, ...past]);
    expect(json).toMatchObject({ domains: [{ name: "backstamp.test" }], scopes: ["emails:send"] });
    // An expiry in the past is allowed.
    expect(await knownKey(json.token)).toBeNull();
  });

  test("a rotated key stays valid for the given hours, and the new key has the same permissions", async () => {
    const { key, token } = await createKey(world.ctx, {
      name: "old",
      scopes: ["emails:send"],
      domains: "all",
    });
    const json = await cliJson(["key", "rotate", key.id, "--overlap", "1"]);
    expect(json).toMatchObject({ name: "old", scopes: ["emails:send"], rotated_from: key.id });
    const hourMs = 3_600_000;
    const untilMs = Date.parse(json.previous_expires_at);
    expect(untilMs).toBeGreaterThan(Date.now());
    expect(untilMs).toBeLessThan(Date.now() + hourMs + 60_000);
    expect(await knownKey(token)).toMatchObject({ id: key.id });
    expect(await knownKey(json.token)).toMatchObject({ id: json.id, allDomains: true });
    const again = await cli(["key", "rotate", key.id]);
    expect(again).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(json.id) });
  });

  test("a revoked key is rejected and no longer listed", async () => {
    const { key, token } = await createKey(world.ctx, {
      name: "gone",
      scopes: ["emails:send"],
      domains: "all",
    });
    expect((await cli(["key", "revoke", key.id])).stdout).toContain(key.id);
    expect(await knownKey(token)).toBeNull();
    expect((await cli(["key", "list"])).stdout).not.toContain(key.id);
  });
});

describe("domains, teams and users", () => {
  test("domain show prints the DNS records and the result of their checks", async () => {
    const { zone, peer } = await startZone();
    const env = {
      BACKSTAMP_SECRET: "the secret of an installation in a test",
      BACKSTAMP_DNS_SERVERS: `127.0.0.1:${peer.port}`,
      BACKSTAMP_HOSTNAME: "mail.backstamp.example",
    };
    await cliJson(["domain", "add", "shown.example"]);
    const shown = await cli(["domain", "show", "shown.example", "--json"], env);
    const { records } = JSON.parse(shown.stdout) as { records: Listed[] };
    publish(zone, records.slice(1));
    const { stdout } = await cli(["domain", "show", "shown.example", "--check"], env);
    expect(stdout).toMatch(/Status +partially_verified/);
    for (const { host, value } of records) {
      expect(stdout).toContain(host);
      expect(stdout).toContain(value);
    }
    expect(stdout).toMatch(
      /Resolver +127\.0\.0\.1:\d+\n +Expected .*\n +Answers +none\n +Fault +missing\n +Advice +\S/,
    );
    expect((await cliJson(["domain", "remove", "shown.example"])).removed).toBe(true);
    expect((await cli(["domain", "show", "shown.example"], env)).stderr).toMatch(/not found/);
    await peer.close();
  });

  test("a domain can send after the operator verified it manually", async () => {
    const added = await cliJson(["domain", "add", "Mail.Example.COM"]);
    expect(added).toMatchObject({ name: "mail.example.com", status: "not_started" });
    const verified = await cliJson(["domain", "verify", "MAIL.example.com"]);
    expect(verified).toMatchObject({ id: added.id, status: "verified" });
    expect((await cli(["domain", "verify", "mail.example.com"])).stdout).toMatch(/unsigned.*domain show/);
    const { stdout } = await cli(["domain", "list"]);
    expect(stdout).toMatch(/^mail\.example\.com +verified/m);
    expect(stdout).toMatch(/^backstamp\.test +verified/m);
  });

  test("--team selects a team by id or name, and created objects belong to it", async () => {
    const team = await cliJson(["team", "create", "Sales & more"]);
    const args = ["domain", "add", "sales.example", "--verified", "--team", team.name];
    expect((await cliJson(args)).status).toBe("verified");
    const key = await cliJson([
      ...["key", "create", "--name", "k", "--scopes", "full_access"],
      ...["--domains", "sales.example", "--team", team.id],
    ]);
    expect(key.team_id).toBe(team.id);
    expect(await knownKey(key.token)).toMatchObject({ teamId: team.id, domains: [{ verified: true }] });
    const teams = await cliJson(["team", "list"]);
    expect(teams.data.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(["First", "Sales & more"]),
    );
  });

  test("a user signs in with the given password, or with the generated one", async () => {
    const team = await createTeam(world.deps, { name: "People" });
    const first = await cliJson(["user", "create", "Ann@Example.com", "--team", team.id]);
    expect(first).toMatchObject({ email: "ann@example.com", role: "owner", team_id: team.id });
    const { email, password } = first;
    expect(await verifyPassword(world.deps, { email, password })).toMatchObject({ id: first.id });

    const given = { email: "ben@example.com", password: "correct horse battery" };
    const args = ["user", "create", given.email, "--password", "--team", team.id];
    const second = await cli(args, {}, `${given.password}\n`);
    expect(second.stdout).toMatch(/ben@example\.com, member of team People/);
    expect(second.stdout).not.toContain(given.password);
    expect(await verifyPassword(world.deps, given)).not.toBeNull();
  });

  test("a lost password is reset without email: by a printed link or by a new password", async () => {
    const team = await createTeam(world.deps, { name: "Forgetful" });
    const person = { email: "cleo@example.com", password: "correct horse battery" };
    await createUser(world.deps, { ...person, teamId: team.id, role: "owner" });

    const shown = await cli(["user", "reset-password", "Cleo@Example.com"]);
    expect(shown.stdout).toMatch(/^ {2}https:\/\/mail\.example\.com\/login\/reset#[\w-]{43}$/m);
    expect(await verifyPassword(world.deps, person)).not.toBeNull();

    const made = await cliJson(["user", "reset-password", person.email, "--generate-password"]);
    expect(await verifyPassword(world.deps, person)).toBeNull();
    const { email, password } = made;
    expect(await verifyPassword(world.deps, { email, password })).not.toBeNull();
    const other = { email: person.email, password: "another horse battery" };
    expect(
      await cli(["user", "reset-password", person.email, "--password"], {}, other.password),
    ).toMatchObject({ code: 0 });
    expect(await verifyPassword(world.deps, other)).not.toBeNull();
    const [row] = await world.hot`select count(*)::int as live from sign_in_tokens where spent_at is null`;
    expect(row?.live).toBe(0);

    const unknownUser = await cli(["user", "reset-password", "nobody@example.com"]);
    expect(unknownUser).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no user .*nobody@example/i),
    });
  });
});

const WRONG_CALLS: [args: string[], says: RegExp][] = [
  [[], /Usage:/],
  [["frobnicate"], /unknown command 'frobnicate'/],
  [["key", "create", "--scopes", "full_access"], /--name/],
  [["key", "create", "--name", "x", "--scopes", "emails:fly"], /Unknown scope "emails:fly"/],
  [["domain", "add", "a.example", "b.example"], /too many arguments/],
  [["email", "show", "42"], /Enter an id/],
  [["user", "create", "ann@example.com", "--password", "visible to all"], /too many arguments/],
  [["user", "reset-password", "ann@example.com", "--password=x"], /unknown option/],
  [["team", "set", "Sales"], /--unknown or --daily-cap/],
  [["domain", "set", "a.example", "--daily-cap", "-1"], /whole number from 0/],
  [["domain", "set", "a.example", "--growth", "50"], /--daily-cap or --warm-up/],
  [["destination", "set", "example.com"], /use --connections or --per-minute/],
  [["destination", "set", "example.com", "--connections", "0"], /1 to 1000000\. Or enter none\./],
  [["destination", "set", "nowhere", "--per-minute", "5"], /domain/],
  [["queue", "pause"], /--reason/],
  [["queue", "purge"], /--reason/],
];

test("invalid arguments are reported, change nothing and exit with 2", async () => {
  // The database is unreachable, because these calls must not use it.
  const results = await Promise.all(
    WRONG_CALLS.map(async ([args, says]) => {
      const { code, stdout, stderr } = await cli(args, { DATABASE_URL: "postgres://127.0.0.1:1/none" });
      return { args, code, stdout, isSaid: says.test(stderr), hasStack: /^ +at /m.test(stderr) };
    }),
  );
  expect(results).toEqual(
    WRONG_CALLS.map(([args]) => ({ args, code: 2, stdout: "", isSaid: true, hasStack: false })),
  );
});

test("help is printed as a result, not as an error", async () => {
  const { code, stdout, stderr } = await cli(["key", "create", "--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/--limit <class=number>.*Examples:/s);
});

const REFUSED: [args: string[], env: Record<string, string>, says: RegExp][] = [
  [["domain", "add", "example.org"], {}, /This team already has example\.org/],
  [
    ["key", "create", "--name", "x", "--scopes", "full_access", "--domains", "other.example"],
    {},
    /Add it first/,
  ],
  [["key", "list", "--team", "Nobody"], {}, /Team "Nobody" not found/],
  [["key", "revoke", anId], {}, /API key not found/],
  [["user", "create", "ann@example.com", "--password"], {}, /12 to 256 characters/],
  [["destination", "set", "example.com", "--connections", "none"], {}, /no limit left/],
  [["destination", "unset", "example.com"], {}, /example\.com has no limit\./],
  [["queue", "pause", "--team", "Nobody", "--reason", "x"], {}, /Team "Nobody" not found\./],
  [["queue", "pause", "--domain", "unknown.example", "--reason", "x"], {}, /No team has the domain unknown/],
  [["queue", "pause", "--domain", "backstamp.test", "--reason", "x"], {}, /Several teams have the domain/],
  [["queue", "resume"], {}, /not paused/],
  [["team", "list"], { DATABASE_URL: "mysql://x" }, /DATABASE_URL: /],
];

test("a rejected command prints one message without a stack trace and exits with 1", async () => {
  const results = await Promise.all(
    REFUSED.map(async ([args, env, says]) => {
      const { code, stdout, stderr } = await cli(args, env);
      return { args, code, stdout, isSaid: says.test(stderr), hasStack: /^ +at /m.test(stderr) };
    }),
  );
  expect(results).toEqual(
    REFUSED.map(([args]) => ({ args, code: 1, stdout: "", isSaid: true, hasStack: false })),
  );
});

test("a process has these exit codes and streams, reads a secret from its input, and survives a closed pipe", async () => {
  const env = { ...own(), BACKSTAMP_SECRET: "the secret of an installation in a test" };
  const run = (args: string[], input?: string) =>
    runProgram(program, args, { env, ...(input !== undefined && { input }) });
  const [added, rejected] = await Promise.all([
    run(["relay", "add", "ses", "-", "--json"], "smtp://user:pass@email-smtp.eu-west-1.amazonaws.com:587\n"),
    run(["key", "list", "--team", "Nobody"]),
  ]);
  expect(added).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(added.stdout)).toMatchObject({ name: "ses", provider: "ses" });
  expect(rejected).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringMatching(/^backstamp: .*not found/),
  });
  expect(await run(["frobnicate"])).toMatchObject({ code: 2, stdout: "" });

  const pipe = await startProcess(
    "bash",
    [
      "-c",
      `"$0" "$1" key create --help | true; echo "\${PIPESTATUS[0]}"`,
      process.execPath,
      await compiledOf(program),
    ],
    { env },
  );
  await pipe.exited;
  expect([pipe.stdout, pipe.stderr]).toEqual(["0\n", ""]);
});
