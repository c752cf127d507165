import { expect, test } from "vitest";
import { listRelays } from "#server/services/relays/read";
import { type BannerFacts, renderBanner } from "#server/startup/launcher/banner";
import { forAllTests } from "../support/fixtures";
import { relayTo } from "../support/relays";
import { createWorld } from "../support/world";

const world = forAllTests(() => createWorld());

/** The banner with the relays that are in the database now. */
async function bannerWith(
  smtpUrl: string | null,
  systemFrom = "backstamp@mail.example.com",
  facts: Partial<BannerFacts> = {},
): Promise<string> {
  return renderBanner({
    mode: "start",
    url: "https://mail.example.com",
    localUrl: "http://localhost:3000",
    login: { kind: "users" },
    firstKeyToken: null,
    secretsFile: ".backstamp/secrets.json",
    smtpUrl,
    relays: await listRelays(world.deps),
    systemFrom,
    submission: { port: null, securePort: null, hasTls: false },
    ...facts,
  });
}

const unset = /Outgoing email is not configured\b.*no_transport.*Add a relay or set SMTP_URL/s;

test("the banner shows how email is sent: not at all, by some teams' relays, by a relay for all, or by SMTP_URL", async () => {
  expect(await bannerWith(null)).toMatch(unset);
  expect(await bannerWith("smtp://relay.example.com")).not.toMatch(/no_transport|relay|SYSTEM_FROM/i);
  expect(await bannerWith("smtp://relay.example.com", "backstamp@localhost")).toMatch(
    /backstamp@localhost is not a valid sender\b.*Set BACKSTAMP_SYSTEM_FROM/s,
  );
  expect(await bannerWith("capture:", "backstamp@localhost")).not.toMatch(/SYSTEM_FROM/);

  await relayTo(world.deps, { port: 1 }, { name: "sales", teamId: world.ctx.teamId });
  const partly = await bannerWith(null);
  expect(partly).not.toMatch(unset);
  expect(partly).toMatch(/Only some teams or domains have a relay\b.*no_transport/s);

  await relayTo(world.deps, { port: 2 }, { name: "main" });
  const whole = await bannerWith(null);
  expect(whole).not.toMatch(/no_transport|not configured/);
  expect(whole).toContain("Email is sent by 2 relays");

  const captured = await bannerWith("capture:");
  expect(captured).toMatch(/All email is captured.*relays are not used/s);
});

test("the banner names the SMTP ports, and a key only in dev", async () => {
  const facts = { firstKeyToken: "re_first_key", submission: { port: 2587, securePort: 2465, hasTls: true } };
  const inStart = await bannerWith("capture:", undefined, facts);
  expect(inStart).toContain("SMTP submission on port 2587 (STARTTLS) and port 2465 (TLS): user backstamp");
  expect(inStart).not.toContain("re_first_key");
  const plain = { port: 2587, securePort: null, hasTls: false };
  const inDev = await bannerWith("capture:", undefined, { ...facts, mode: "dev", submission: plain });
  expect(inDev).toMatch(
    /SMTP submission on port 2587: .*\n\n {4}printf .* \| curl .*smtp:\/\/127\.0\.0\.1:2587 .*re_first_key/,
  );
  expect(await bannerWith("capture:")).not.toContain("SMTP submission");
});
