import { scryptSync } from "node:crypto";
import { expect, test } from "vitest";
import { hashPassword, isPasswordCorrect } from "#server/platform/secrets/passwords";

const PASSWORD = "caf\u00e9 au lait noir";
/** The same letters, as another keyboard types them. */
const DECOMPOSED = "cafe\u0301 au lait noir";

test("a password is stored only as a salted scrypt string with its own cost parameters", async () => {
  const [first, second] = await Promise.all([hashPassword(DECOMPOSED), hashPassword(DECOMPOSED)]);
  expect(first).toMatch(/^scrypt\$32768\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
  expect(first).not.toBe(second);
  const [, , , , salt = "", hash] = first.split("$");
  const derived = scryptSync(PASSWORD, Buffer.from(salt, "base64url"), 32, {
    ...{ N: 32_768, r: 8, p: 3 },
    maxmem: 128 * 1024 * 1024,
  });
  expect(derived.toString("base64url")).toBe(hash);
});

test("a password is hashed in a bounded queue, and is rejected at once if the queue is full", async () => {
  const cheap = `scrypt$1024$8$1$${"A".repeat(22)}$${"A".repeat(43)}`;
  const many = await Promise.allSettled(
    Array.from({ length: 120 }, () => isPasswordCorrect(PASSWORD, cheap)),
  );
  const refused = many.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  expect(refused).toHaveLength(18);
  for (const reason of refused) expect(reason).toMatchObject({ code: "unavailable" });
  expect(await isPasswordCorrect(PASSWORD, cheap)).toBe(false);
});

test("a password is correct in composed and in decomposed letters, also with other cost parameters", async () => {
  const cheap = "scrypt$1024$8$1$AAAAAAAAAAAAAAAAAAAAAA$";
  const hash = scryptSync(PASSWORD, Buffer.alloc(16), 32, { N: 1024, r: 8, p: 1 }).toString("base64url");
  for (const password of [PASSWORD, DECOMPOSED])
    expect(await isPasswordCorrect(password, cheap + hash)).toBe(true);
  expect(await isPasswordCorrect(`${PASSWORD} `, cheap + hash)).toBe(false);
});

test("a password never matches an account without a password or with a damaged hash", async () => {
  for (const stored of [null, "", `scrypt$1024$8$1$${"A".repeat(22)}$${"A".repeat(43)}`])
    expect(await isPasswordCorrect("", stored)).toBe(false);
});
