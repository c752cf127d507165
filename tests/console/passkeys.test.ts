import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { passkeyChallenges, passkeys, recoveryCodes } from "#db/schema/account";
import { sessions, users } from "#db/schema/teams";
import { getSession } from "#server/auth";
import { relyingParty } from "#server/services/account/passkeys/challenge";
import { AUTOFILL_CALLS_PER_MINUTE } from "#server/services/account/passkeys/sign-in";
import { endSessionsExcept, lockUser } from "#server/services/people/lock";
import { FOR_CONCURRENT_CALLS, openConsole, PASSWORD } from "../support/console/console";
import {
  createPasskeyDevice,
  type PasskeyDevice,
  type PasskeyFault,
} from "../support/console/passkey-device";
import { openSignedIn, openVisitor, type SignInVisitor } from "../support/console/sign-in-visitor";
import { waitForLock } from "../support/database/lock-wait";
import { refused } from "../support/rejected";

const console = await openConsole(FOR_CONCURRENT_CALLS);

const page = { origin: "https://mail.example.org", rpId: "mail.example.org" };
let addresses = 0;
const open = () => openVisitor(console.deps, { address: `198.51.100.${++addresses}` });

type Made = { ok: boolean; data?: unknown; message?: string };
type Asked = { challenge: string; allowCredentials?: { id: string }[]; userVerification?: string };

async function begin(visitor: SignInVisitor): Promise<Asked> {
  const started = await visitor.call("account.startPasskey", { proof: PASSWORD });
  if (!started.ok) throw new Error(started.message);
  return started.data as Asked;
}
const add = async (visitor: SignInVisitor, device: PasskeyDevice, fault?: PasskeyFault): Promise<Made> =>
  visitor.call("account.addPasskey", { response: device.make(await begin(visitor), fault), name: "Key" });

async function startSignIn(visitor: SignInVisitor): Promise<Asked> {
  const response = await visitor.post("passkey/options", {});
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toBe("no-store");
  return response.json();
}
const use = async (visitor: SignInVisitor, device: PasskeyDevice, fault?: PasskeyFault) =>
  visitor.submit("callback/passkey", { response: device.use(await startSignIn(visitor), fault) });

/** A user with a passkey, signed in in the browser that created it. */
async function openOwner() {
  const user = await console.person();
  const home = await openSignedIn(console.deps, user.id, `198.51.100.${++addresses}`);
  const device = createPasskeyDevice(page);
  const made = await add(home, device);
  expect(made).toMatchObject({ ok: true });
  return { user, home, device, made: made.data as { id: string; recoveryCodes: string[] } };
}

describe("creating a passkey", () => {
  test("requests a discoverable passkey with user verification", async () => {
    const user = await console.person();
    const visitor = open();
    await visitor.signIn(user.email, PASSWORD);
    expect(await begin(visitor)).toMatchObject({
      rp: { id: page.rpId, name: "Backstamp" },
      user: { name: user.email },
      attestation: "none",
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
  });

  test("returns recovery codes with the first passkey only", async () => {
    const { home, made } = await openOwner();
    expect(made.recoveryCodes).toHaveLength(10);
    expect(await add(home, createPasskeyDevice(page))).toMatchObject({ data: { recoveryCodes: null } });
    expect(await home.query("account.signInMethods")).toMatchObject({
      data: { passkeys: [{ name: "Key", isSynced: false }, {}], recoveryCodesLeft: 10 },
    });
  });

  test("is rejected for another origin, host or challenge, without user verification, and for malformed input", async () => {
    const { home, user } = await openOwner();
    for (const fault of [
      { origin: "https://evil.example" },
      { rpId: "evil.example" },
      { challenge: "AAAA" },
      { isVerified: false },
      { type: "webauthn.get" },
    ])
      expect(await add(home, createPasskeyDevice(page), fault), JSON.stringify(fault)).toMatchObject({
        ok: false,
        code: "UNPROCESSABLE_CONTENT",
      });
    for (const response of ["", "{}", "null", "[".repeat(9_000), '{"id":"\\u0000"}'])
      expect((await home.call("account.addPasskey", { response, name: "" })).ok).toBe(false);
    const rows = await console.deps.db.select().from(passkeys).where(eq(passkeys.userId, user.id));
    expect(rows).toHaveLength(1);
  });

  test("accepts a challenge once, and only from its own user", async () => {
    const [ann, ben] = [await openOwner(), await openOwner()];
    const asked = await begin(ann.home);
    const device = createPasskeyDevice(page);
    const stolen = await ben.home.call("account.addPasskey", { response: device.make(asked), name: "" });
    expect(stolen.ok).toBe(false);
    const again = await ann.home.call("account.addPasskey", { response: device.make(asked), name: "" });
    expect(again.ok).toBe(false);
  });

  test("is rejected after the session was ended during verification", async () => {
    const { home, user } = await openOwner();
    const response = createPasskeyDevice(page).make(await begin(home));
    const { adding } = await console.deps.db.transaction(async (tx) => {
      await lockUser(tx, user.id);
      const adding = home.call("account.addPasskey", { response, name: "" });
      await waitForLock(console.world.hot);
      await endSessionsExcept(tx, user.id, null);
      return { adding };
    });
    expect(await adding).toMatchObject({ ok: false, code: "UNAUTHORIZED" });
    expect(await console.deps.db.$count(passkeys, eq(passkeys.userId, user.id))).toBe(1);
  });

  test("is rejected if the passkey belongs to another user", async () => {
    const [ann, ben] = [await openOwner(), await openOwner()];
    expect(await add(ben.home, ann.device)).toMatchObject({ ok: false, code: "CONFLICT" });
  });
});

describe("signing in with a passkey", () => {
  test("requires neither an email address nor a password", async () => {
    const { user, device } = await openOwner();
    const visitor = open();
    const asked = await startSignIn(visitor);
    expect(asked).toMatchObject({ userVerification: "required", allowCredentials: [] });
    const response = device.use(asked);
    expect(await visitor.submit("callback/passkey", { response })).toMatchObject({ isIn: true, error: null });
    expect((await getSession(console.deps, visitor.cookies))?.user).toEqual(user);
  });

  test("is rejected for another origin, host, type or challenge, without user verification, and on reuse", async () => {
    const { device } = await openOwner();
    for (const fault of [
      { origin: "https://evil.example" },
      { origin: "http://mail.example.org" },
      { rpId: "evil.example" },
      { challenge: "AAAA" },
      { isVerified: false },
      { type: "webauthn.create" },
    ]) {
      const visitor = open();
      const { isIn, error } = await use(visitor, device, fault);
      expect({ isIn, error }, JSON.stringify(fault)).toEqual({ isIn: false, error: "CredentialsSignin" });
    }
    const [first, second] = [open(), open()];
    const asked = await startSignIn(first);
    const response = device.use(asked);
    expect((await first.submit("callback/passkey", { response })).isIn).toBe(true);
    const replayed = await second.submit("callback/passkey", { response: device.use(asked) });
    expect(replayed).toMatchObject({ isIn: false, error: "CredentialsSignin" });
  });

  test("is rejected for an expired challenge or a registration challenge", async () => {
    const { home, device } = await openOwner();
    const visitor = open();
    const asked = await startSignIn(visitor);
    console.world.clock.advance(5 * 60_000);
    const late = await visitor.submit("callback/passkey", { response: device.use(asked) });
    expect(late.isIn).toBe(false);
    const other = await visitor.submit("callback/passkey", { response: device.use(await begin(home)) });
    expect(other.isIn).toBe(false);
  });

  test("accepts one of several concurrent responses to a challenge", async () => {
    const { device } = await openOwner();
    const asked = await startSignIn(open());
    const uses = Array.from({ length: 4 }, () =>
      open().submit("callback/passkey", { response: device.use(asked) }),
    );
    const results = await Promise.all(uses);
    expect(results.filter(({ isIn }) => isIn)).toHaveLength(1);
  });

  test("stores nothing for a visitor who only requests options", async () => {
    const before = await console.deps.db.$count(passkeyChallenges);
    for (const kind of ["options", "autofill"])
      expect((await open().post(`passkey/${kind}`, {})).status, kind).toBe(200);
    expect(await console.deps.db.$count(passkeyChallenges)).toBe(before);
  });

  test("responds to an unknown passkey as to a wrong signature", async () => {
    const { device } = await openOwner();
    const unknown = await use(open(), createPasskeyDevice(page));
    const visitor = open();
    const forged = JSON.parse(device.use(await startSignIn(visitor)));
    forged.response.signature = JSON.parse(
      createPasskeyDevice(page).use(await startSignIn(visitor)),
    ).response.signature;
    const fault = await visitor.submit("callback/passkey", { response: JSON.stringify(forged) });
    expect(fault).toEqual(unknown);
    for (const response of ["", "{}", "null", "x".repeat(9_000)])
      expect(await visitor.submit("callback/passkey", { response })).toEqual(unknown);
  });

  test("is rejected if the signature counter decreases, as with a cloned passkey", async () => {
    const { device } = await openOwner();
    expect((await use(open(), device, { counter: 50 })).isIn).toBe(true);
    expect((await use(open(), device, { counter: 50 })).isIn).toBe(false);
    expect((await use(open(), device, { counter: 7 })).isIn).toBe(false);
    expect((await use(open(), device, { counter: 51 })).isIn).toBe(true);
    expect(console.lines.some(({ event }) => event === "passkey.counter_went_back")).toBe(true);
  });

  test("is rejected with a removed passkey", async () => {
    const { home, device, made } = await openOwner();
    const removed = await home.call("account.removePasskey", { id: made.id, proof: PASSWORD });
    expect(removed).toMatchObject({ ok: true });
    expect((await use(open(), device)).isIn).toBe(false);
  });
});

describe("a user with a passkey for 2FA", () => {
  test("signs in with the password and then the passkey, not with the password alone", async () => {
    const { user, device } = await openOwner();
    const visitor = open();
    expect(await visitor.signIn(user.email, PASSWORD)).toMatchObject({ isIn: false, error: null });
    const asked = await startSignIn(visitor);
    expect(asked.allowCredentials).toMatchObject([{ id: device.id }]);
    const response = device.use(asked);
    expect((await visitor.submit("callback/passkey", { response })).isIn).toBe(true);
    expect(visitor.jar.has("__Host-backstamp.step")).toBe(false);
  });

  test("cannot complete 2FA with the passkey of another user", async () => {
    const [ann, ben] = [await openOwner(), await openOwner()];
    const visitor = open();
    await visitor.signIn(ann.user.email, PASSWORD);
    const response = ben.device.use(await startSignIn(visitor));
    expect((await visitor.submit("callback/passkey", { response })).isIn).toBe(false);
  });
});

describe("a user with only passkeys", () => {
  async function openPasskeyOnly() {
    const owner = await openOwner();
    const db = console.deps.db;
    await db.update(users).set({ passwordHash: null }).where(eq(users.id, owner.user.id));
    return owner;
  }
  const remove = (home: SignInVisitor, id: string, proof = "") =>
    home.call("account.removePasskey", { id, proof });

  test("cannot remove the last passkey, which is the only sign-in method", async () => {
    const { home, made } = await openPasskeyOnly();
    const refused = await remove(home, made.id, made.recoveryCodes[0]);
    expect(refused).toMatchObject({ ok: false, code: "CONFLICT" });
    expect(await home.query("account.signInMethods")).toMatchObject({
      data: { passkeys: [{ id: made.id }] },
    });
    const second = await home.call("account.startPasskey", { proof: made.recoveryCodes[1] ?? "" });
    const response = createPasskeyDevice(page).make((second as { data: Asked }).data);
    expect(await home.call("account.addPasskey", { response, name: "" })).toMatchObject({ ok: true });
    expect(await remove(home, made.id, made.recoveryCodes[2])).toMatchObject({ ok: true });
  });

  test("must sign in again to confirm their identity once no recovery code is left, and the error states it", async () => {
    const { user, home, device } = await openPasskeyOnly();
    expect(await home.query("account.signInMethods")).toMatchObject({ data: { proof: "code" } });
    const db = console.deps.db;
    await db.update(recoveryCodes).set({ usedAt: sql`now()` }).where(eq(recoveryCodes.userId, user.id));
    expect(await home.query("account.signInMethods")).toMatchObject({ data: { proof: "fresh_session" } });
    await db
      .update(sessions)
      .set({ createdAt: sql`now() - interval '11 minutes'` })
      .where(eq(sessions.userId, user.id));
    const renew = (visitor: SignInVisitor) => visitor.call("account.renewRecoveryCodes", { proof: "" });
    expect(await renew(home)).toMatchObject(refused(/Sign out and sign in again.* 10 minutes/));
    const again = open();
    expect((await use(again, device)).isIn).toBe(true);
    expect(await renew(again)).toMatchObject({ ok: true });
  });
});

describe("passkeys in the autofill list", () => {
  const requestAutofill = async (visitor: SignInVisitor): Promise<{ challenge: string }> => {
    const response = await visitor.post("passkey/autofill", {});
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    return response.json();
  };

  test("sign in the user of the chosen passkey", async () => {
    const { user, device } = await openOwner();
    const visitor = open();
    const asked = await requestAutofill(visitor);
    expect(asked).toMatchObject({ userVerification: "required", allowCredentials: [] });
    expect(await visitor.submit("callback/passkey", { response: device.use(asked) })).toMatchObject({
      isIn: true,
    });
    expect((await getSession(console.deps, visitor.cookies))?.user).toEqual(user);
    const replayed = await open().submit("callback/passkey", { response: device.use(asked) });
    expect(replayed).toMatchObject({ isIn: false, error: "CredentialsSignin" });
  });

  test("sign in on the sign-in page although a 2FA challenge of another user is open", async () => {
    const [ann, ben] = [await openOwner(), await openOwner()];
    const visitor = open();
    await visitor.signIn(ann.user.email, PASSWORD);
    const response = ben.device.use(await requestAutofill(visitor));
    expect((await visitor.submit("callback/passkey", { response })).isIn).toBe(true);
    expect((await getSession(console.deps, visitor.cookies))?.user).toEqual(ben.user);
    expect(visitor.jar.has("__Host-backstamp.step")).toBe(false);
  });

  test("have a limit per IP address that leaves the one of the button", async () => {
    const address = "203.0.113.50";
    while (await console.deps.signInLimiter.take(`passkey-autofill:${address}`, AUTOFILL_CALLS_PER_MINUTE));
    const visitor = openVisitor(console.deps, { address });
    expect((await visitor.post("passkey/autofill", {})).status).toBe(429);
    expect((await visitor.post("passkey/options", {})).status).toBe(200);
    expect((await open().post("passkey/autofill", {})).status).toBe(200);
  });
});

test("passkeys are offered only for the host of the public URL, and only where browsers support them", () => {
  expect(relyingParty("https://mail.example.org:8443")).toEqual({
    id: "mail.example.org",
    origin: "https://mail.example.org:8443",
  });
  expect(relyingParty("http://localhost:3000")?.id).toBe("localhost");
  for (const url of [
    "http://mail.example.org",
    "http://127.0.0.1:3000",
    "https://192.0.2.1",
    "https://[::1]",
  ])
    expect(relyingParty(url), url).toBeNull();
});
