import { afterAll, expect, test } from "vitest";
import { getSession } from "#server/auth";
import { type User, verifyPassword } from "#server/services/people/users";
import { openConsole, PASSWORD } from "../support/console/console";
import { openMailbox } from "../support/console/mailbox";
import { openVisitor, type SignInVisitor } from "../support/console/sign-in-visitor";
import { refused } from "../support/rejected";

const console = await openConsole();
const mailbox = await openMailbox(console);
afterAll(() => mailbox.close());

let count = 0;
const newAddress = () => `new${++count}@example.net`;
const open = () => openVisitor(console.deps, { address: `198.51.100.${++count}` });
async function signedIn(email: string): Promise<SignInVisitor> {
  const visitor = open();
  await visitor.signIn(email, PASSWORD);
  return visitor;
}
const isIn = async (visitor: SignInVisitor) => (await getSession(console.deps, visitor.cookies)) !== null;
const change = (visitor: SignInVisitor, email: string, proof = PASSWORD) =>
  visitor.call("profile.changeEmail", { email, proof });
const confirm = (visitor: SignInVisitor, token: string) => visitor.call("profile.confirmEmail", { token });
const tokenTo = async (address: string) =>
  (await mailbox.linksTo(address)).at(-1)?.searchParams.get("confirm") ?? "";
const isOf = async (email: string, user: User) =>
  (await verifyPassword(console.deps, { email, password: PASSWORD }))?.id === user.id;

test("an address is changed by a link sent to the new one; other sessions and earlier links end, and the old address is told", async () => {
  const ann = await console.person();
  const [here, elsewhere] = [await signedIn(ann.email), await signedIn(ann.email)];
  await open().postJson("link/request", { kind: "password_reset", email: ann.email, landing: "/console" });
  const [reset] = await mailbox.linksTo(ann.email);
  const email = newAddress();

  expect(await change(here, email, "a wrong password")).toMatchObject({ ok: false });
  expect(await mailbox.linksTo(email)).toEqual([]);
  expect(await change(here, ` ${email.toUpperCase()} `)).toMatchObject({ ok: true });
  const token = await tokenTo(email);
  expect(token).not.toBe("");
  expect(await isOf(ann.email, ann)).toBe(true);

  expect(await confirm(here, token)).toMatchObject({ ok: true, data: { email } });
  expect([await isOf(email, ann), await isOf(ann.email, ann)]).toEqual([true, false]);
  expect([await isIn(here), await isIn(elsewhere)]).toEqual([true, false]);
  const again = await open().postJson("password/reset", {
    token: reset?.hash.slice(1),
    password: "another password entirely",
  });
  expect(again.status).toBe(410);
  expect((await mailbox.emailsTo(ann.email)).at(-1)).toContain(email);
  expect(await here.query("account.events")).toMatchObject({
    data: expect.arrayContaining([expect.objectContaining({ kind: "address_changed", subject: email })]),
  });
  expect(await confirm(here, token)).toMatchObject({ ok: false });
});

test("a link works only for the account that requested it, and not after a new password", async () => {
  const [ann, eve] = [await console.person(), await console.person()];
  const [here, theirs] = [await signedIn(ann.email), await signedIn(eve.email)];
  const email = newAddress();
  await change(here, email);
  const token = await tokenTo(email);
  for (const wrong of ["", "x", `x${token}`]) expect(await confirm(here, wrong)).toMatchObject({ ok: false });
  expect(await confirm(theirs, token)).toMatchObject({ ok: false });
  await here.call("account.changePassword", { current: PASSWORD, next: "another password entirely" });
  expect(await confirm(here, token)).toMatchObject({ ok: false });
  expect((await here.query("profile.get")) as unknown).toMatchObject({ data: { email: ann.email } });
});

test("an address of another user is neither taken nor disclosed before its mailbox is proved", async () => {
  const [ann, ben] = [await console.person(), await console.person()];
  const here = await signedIn(ann.email);
  expect(await change(here, ben.email)).toMatchObject({ ok: true });
  expect(await confirm(here, await tokenTo(ben.email))).toMatchObject(refused(/another account/));
  expect(await isOf(ben.email, ben)).toBe(true);
  for (const email of ["", "no address", "two@example.net, three@example.net"])
    expect(await change(here, email)).toMatchObject({ ok: false });
});
