import { describe, expect, test } from "vitest";
import { getSession } from "#server/auth";
import { AUTOFILL_CALLS_PER_MINUTE } from "#server/services/account/passkeys/sign-in";
import { openConsole, PASSWORD } from "../support/console/console";
import { createPasskeyDevice } from "../support/console/passkey-device";
import { openSignedIn, openVisitor, type SignInVisitor } from "../support/console/sign-in-visitor";

const console = await openConsole();

const page = { origin: "https://mail.example.org", rpId: "mail.example.org" };
let addresses = 0;
const open = () => openVisitor(console.deps, { address: `198.51.100.${++addresses}` });

/** A user with a passkey. */
async function openOwner() {
  const user = await console.person();
  const home = await openSignedIn(console.deps, user.id, `198.51.100.${++addresses}`);
  const device = createPasskeyDevice(page);
  const started = await home.call("account.startPasskey", { proof: PASSWORD });
  if (!started.ok) throw new Error(started.message);
  const response = device.make(started.data as { challenge: string });
  expect(await home.call("account.addPasskey", { response, name: "Key" })).toMatchObject({ ok: true });
  return { user, device };
}

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
