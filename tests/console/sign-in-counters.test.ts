import { expect, test } from "vitest";
import { sweep } from "#server/delivery/housekeeping/sweep";
import { SIGN_IN_ATTEMPTS_PER_MINUTE, signIn } from "#server/services/account/sign-in/sign-in";
import { createSignInLimiter } from "#server/services/people/sign-in-counters";
import { openConsole, PASSWORD } from "../support/console/console";
import { openVisitor } from "../support/console/sign-in-visitor";

const console = await openConsole();

const wrong = "not the password";

test("two processes with one database share their limits", async () => {
  const user = await console.person();
  const address = "198.51.100.1";
  const processes = [console.deps, console.otherProcess()].map((deps) => openVisitor(deps, { address }));
  const errors: (string | null)[] = [];
  for (let n = 0; n < SIGN_IN_ATTEMPTS_PER_MINUTE.addressAndAccount; n++)
    for (const visitor of processes) errors.push((await visitor.signIn(user.email, wrong)).error);
  expect(errors.filter((error) => error === "CredentialsSignin")).toHaveLength(
    SIGN_IN_ATTEMPTS_PER_MINUTE.addressAndAccount,
  );
  // A new process uses the existing counts.
  const started = openVisitor(console.otherProcess(), { address });
  expect(await started.signIn(user.email, PASSWORD)).toMatchObject({ isIn: false, error: "TooManyAttempts" });
  expect(
    (await openVisitor(console.otherProcess(), { address: "198.51.100.2" }).signIn(user.email, PASSWORD))
      .isIn,
  ).toBe(true);
});

test("concurrent attempts are all counted", async () => {
  const { take } = console.deps.signInLimiter;
  const other = console.otherProcess().signInLimiter;
  const taken = await Promise.all(
    Array.from({ length: 40 }, (_, n) => (n % 2 ? take : other.take)("at-once", 10)),
  );
  expect(taken.filter(Boolean)).toHaveLength(10);
});

test("the minute slides: the previous minute counts less and less, and then not at all", async () => {
  let nowMs = 600_000;
  const limiter = createSignInLimiter(console.world.hot, () => nowMs);
  const attemptAll = async () => {
    let taken = 0;
    while (await limiter.take("sliding", 10)) taken++;
    return taken;
  };
  expect(await attemptAll()).toBe(10);
  nowMs += 59_000;
  expect(await attemptAll()).toBe(0);
  nowMs += 31_000;
  expect(await attemptAll()).toBe(5);
  nowMs += 120_000;
  expect(await attemptAll()).toBe(10);
  // If the clock steps back, the earlier counts still apply.
  nowMs -= 60_000;
  expect(await attemptAll()).toBe(0);
});

test("one IP address adds a bounded number of counters, however many accounts it names, and they reveal neither", async () => {
  const { hot } = console.world;
  await hot`delete from sign_in_counters`;
  const address = "203.0.113.77";
  for (let n = 0; n < SIGN_IN_ATTEMPTS_PER_MINUTE.address + 5; n++)
    await signIn(console.deps, {
      email: `made-up-${n}@${"x".repeat(2_000)}.example`,
      password: "",
      address,
      userAgent: null,
    });
  const rows = await hot<{ text: string }[]>`select c::text as text from sign_in_counters c`;
  expect(rows.length).toBeGreaterThan(SIGN_IN_ATTEMPTS_PER_MINUTE.address);
  expect(rows.length).toBeLessThanOrEqual(2 * SIGN_IN_ATTEMPTS_PER_MINUTE.address + 1);
  for (const { text } of rows) {
    expect(text.length).toBeLessThan(120);
    expect(text).not.toMatch(/made-up|203\.0/);
  }
});

test("only counters that no longer limit attempts are deleted", async () => {
  const { hot, withTransport } = console.world;
  await hot`delete from sign_in_counters`;
  await createSignInLimiter(hot, () => Date.now() - 240_000).take("past", 1);
  await createSignInLimiter(hot).take("present", 1);
  await sweep(withTransport());
  const left = await hot<{ minute: string }[]>`select minute from sign_in_counters`;
  expect(left).toHaveLength(1);
  expect(Number(left[0]?.minute)).toBeGreaterThan(Date.now() / 60_000 - 3);
});
