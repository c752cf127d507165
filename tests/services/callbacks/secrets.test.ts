import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readHeardRelay } from "#db/callbacks";
import type { RelayProvider } from "#db/schema/relays";
import { openCallbackSecret, setCallback } from "#server/services/callbacks/secrets";
import { changeRelay } from "#server/services/relays/write";
import { type House, openHouse } from "../../support/house";
import { fakeMailgun, fakePostmark, fakeResend, fakeSendgrid } from "../../support/providers";
import { relayTo } from "../../support/relays";
import { topic } from "../../support/sns-issuer";

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

let port = 0;
const relayOf = (provider: RelayProvider | null) => relayTo(house.deps, { port: ++port }, { provider });

async function heardAs(id: string) {
  const relay = await readHeardRelay(house.hot, id);
  if (!relay) throw new Error("there is no such relay");
  return { secret: openCallbackSecret(house.deps, relay), topic: relay.topic };
}

test("what a provider gives is kept sealed, and opens for that relay and provider alone", async () => {
  for (const { provider, given } of [fakePostmark(), fakeMailgun(), fakeSendgrid(), fakeResend()]) {
    const { secret = "" } = given;
    const relay = await relayOf(provider);
    expect(await setCallback(house.deps, relay, given)).toBeNull();
    expect(await heardAs(relay.id)).toEqual({ secret, topic: null });
    const [row] = await house.hot<{ kept: string }[]>`
      select callback_secret as kept from relays where id = ${relay.id}`;
    expect(row?.kept).not.toContain(secret);

    const other = await relayOf(provider);
    await house.hot`update relays set callback_secret = ${row?.kept ?? ""} where id = ${other.id}`;
    await expect(heardAs(other.id)).rejects.toThrow();
    await changeRelay(house.deps, relay, { provider: provider === "resend" ? "mailgun" : "resend" });
    expect(await heardAs(relay.id)).toEqual({ secret: null, topic: null });
  }
});

test("SES has a topic and no secret", async () => {
  const relay = await relayOf("ses");
  await setCallback(house.deps, relay, { topic });
  expect(await heardAs(relay.id)).toEqual({ secret: null, topic });
});

const onAnotherCurve = generateKeyPairSync("ec", { namedCurve: "P-384" })
  .publicKey.export({ type: "spki", format: "der" })
  .toString("base64");

test.each<[RelayProvider | null, { secret?: string; topic?: string }, RegExp]>([
  ["postmark", { secret: "short" }, /16 to 500 characters/],
  ["postmark", { secret: "with a blank, and long" }, /without blanks/],
  ["mailgun", {}, /HTTP webhook signing key/],
  ["sendgrid", { secret: "MFkwEwYH" }, /verification key/],
  ["sendgrid", { secret: onAnotherCurve }, /verification key/],
  ["resend", { secret: "whsec_x" }, /whsec_ and Base64/],
  ["resend", { topic }, /no topics/],
  ["ses", {}, /arn:aws:sns:/],
  ["ses", { topic: "mail" }, /arn:aws:sns:/],
  ["ses", { secret: "whsec_x" }, /Give its topic/],
  [null, { secret: "whatever it may be" }, /relay set .* --provider/],
])("of %s what cannot be it is refused with what could: %j", async (provider, given, says) => {
  const relay = await relayOf(provider);
  await expect(setCallback(house.deps, relay, given)).rejects.toThrow(says);
  expect(await heardAs(relay.id)).toEqual({ secret: null, topic: null });
});
