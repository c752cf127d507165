import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import type { RelayProvider } from "#db/schema/relays";
import { getCallbackRelay, openCallbackSecret, setCallback } from "#server/services/callbacks/secrets";
import { updateRelay } from "#server/services/relays/write";
import { forAllTests } from "../../support/fixtures";
import { relayTo } from "../../support/relays";
import { fakeMailgun, fakePostmark, fakeResend, fakeSendgrid } from "../../support/servers/providers";
import { scalewayTopic, topic } from "../../support/servers/sns-issuer";
import { fakeBrevo, fakeMailersend } from "../../support/servers/table-providers";
import { createWorld } from "../../support/world";

const world = forAllTests(() => createWorld());

let port = 0;
const relayOf = (provider: RelayProvider | null) => relayTo(world.deps, { port: ++port }, { provider });

async function readCallback(id: string) {
  const relay = await getCallbackRelay(world.hot, id);
  if (!relay) throw new Error("relay not found");
  return { secret: openCallbackSecret(world.deps, relay), topic: relay.topic };
}

test("a provider's secret is stored encrypted, and can be decrypted only for that relay and provider", async () => {
  for (const { provider, given } of [
    fakePostmark(),
    fakeMailgun(),
    fakeSendgrid(),
    fakeResend(),
    fakeBrevo(),
    fakeMailersend(),
  ]) {
    const { secret = "" } = given;
    const relay = await relayOf(provider);
    expect(await setCallback(world.deps, relay, given)).toBeNull();
    expect(await readCallback(relay.id)).toEqual({ secret, topic: null });
    const [row] = await world.hot<{ stored: string }[]>`
      select callback_secret as stored from relays where id = ${relay.id}`;
    expect(row?.stored).not.toContain(secret);

    const other = await relayOf(provider);
    await world.hot`update relays set callback_secret = ${row?.stored ?? ""} where id = ${other.id}`;
    await expect(readCallback(other.id)).rejects.toThrow();
    await updateRelay(world.deps, relay, { provider: provider === "resend" ? "mailgun" : "resend" });
    expect(await readCallback(relay.id)).toEqual({ secret: null, topic: null });
  }
});

test.each([
  ["ses", topic],
  ["scaleway", scalewayTopic],
] as const)("%s has a topic and no secret", async (provider, of) => {
  const relay = await relayOf(provider);
  await setCallback(world.deps, relay, { topic: of });
  expect(await readCallback(relay.id)).toEqual({ secret: null, topic: of });
});

test.each(["postmark", "brevo", "mailjet", "sparkpost"] as const)(
  "%s issues no secret, so one is generated",
  async (provider) => {
    const relay = await relayOf(provider);
    const secret = await setCallback(world.deps, relay, {});
    expect(secret).toMatch(/^[\w-]{32}$/);
    expect(await readCallback(relay.id)).toEqual({ secret, topic: null });
  },
);

test("a provider that release 0.2.0 cannot send through is hidden from it", async () => {
  const relay = await relayOf("brevo");
  const columns = async () => {
    const [row] = await world.hot<{ provider: string | null }[]>`
      select provider from relays where id = ${relay.id}`;
    return row?.provider;
  };
  expect({ shown: relay.provider, column: await columns() }).toEqual({ shown: "brevo", column: null });
  expect(await updateRelay(world.deps, relay, { provider: "ses" })).toMatchObject({ provider: "ses" });
  expect(await columns()).toBe("ses");
});

const onAnotherCurve = generateKeyPairSync("ec", { namedCurve: "P-384" })
  .publicKey.export({ type: "spki", format: "der" })
  .toString("base64");

test.each<[RelayProvider | null, { secret?: string; topic?: string }, RegExp]>([
  ["postmark", { secret: "short" }, /16 to 500 characters/],
  ["postmark", { secret: "with a blank, and long" }, /without spaces/],
  ["mailgun", {}, /HTTP webhook signing key/],
  ["sendgrid", { secret: "MFkwEwYH" }, /verification key/],
  ["sendgrid", { secret: onAnotherCurve }, /verification key/],
  ["resend", { secret: "whsec_x" }, /whsec_ and Base64/],
  ["resend", { topic }, /does not use topics/],
  ["ses", {}, /arn:aws:sns:/],
  ["ses", { topic: "mail" }, /arn:aws:sns:/],
  ["ses", { topic: scalewayTopic }, /arn:aws:sns:/],
  ["scaleway", { topic }, /arn:scw:sns:/],
  ["mailersend", { secret: "short" }, /signing secret/],
  ["ses", { secret: "whsec_x" }, /Set its topic/],
  [null, { secret: "whatever it may be" }, /relay set .* --provider/],
])("an invalid credential of %s is rejected with the valid form: %j", async (provider, given, message) => {
  const relay = await relayOf(provider);
  await expect(setCallback(world.deps, relay, given)).rejects.toThrow(message);
  expect(await readCallback(relay.id)).toEqual({ secret: null, topic: null });
});
