import { afterAll, beforeAll, expect, test } from "vitest";
import { listRelays } from "#server/services/relays/read";
import { renderBanner } from "#server/startup/launcher/banner";
import { relayTo } from "../support/relays";
import { createWorld, type World } from "../support/world";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

/** The banner with the relays that are in the database now. */
async function bannerWith(
  smtpUrl: string | null,
  systemFrom = "backstamp@mail.example.com",
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
