import { and, eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { passkeys } from "#db/schema/account";
import { memberships } from "#db/schema/teams";
import { FOR_CONCURRENT_CALLS, openConsole, PASSWORD } from "../support/console/console";
import { createPasskeyDevice } from "../support/console/passkey-device";
import { openVisitor } from "../support/console/sign-in-visitor";

const console = await openConsole(FOR_CONCURRENT_CALLS);

async function signedIn() {
  const user = await console.person({ role: "admin" });
  const visitor = openVisitor(console.deps, { address: "198.51.100.1" });
  await visitor.signIn(user.email, PASSWORD);
  return { user, visitor };
}

test("concurrent calls never make a user the owner of more than fifty teams", async () => {
  const { user, visitor } = await signedIn();
  await console.world.hot`
    with made as (insert into teams (id, name) select uuid_v7(), 'Team' from generate_series(1, 47) returning id)
    insert into memberships (team_id, user_id, role) select id, ${user.id}, 'owner' from made`;
  const made = await Promise.all(
    Array.from({ length: 8 }, (_, n) => visitor.call("team.create", { name: `Late ${n}` })),
  );
  expect(made.filter(({ ok }) => ok)).toHaveLength(3);
  for (const each of made.filter(({ ok }) => !ok)) expect(each).toMatchObject({ code: "CONFLICT" });
  const owned = and(eq(memberships.userId, user.id), eq(memberships.role, "owner"));
  expect(await console.deps.db.$count(memberships, owned)).toBe(50);
});

test("concurrent registrations never give a user more than twenty passkeys", async () => {
  const { user, visitor } = await signedIn();
  const page = { origin: "https://mail.example.org", rpId: "mail.example.org" };
  const begin = async () => {
    const started = await visitor.call("account.startPasskey", { proof: PASSWORD });
    if (!started.ok) throw new Error(started.message);
    return createPasskeyDevice(page).make(started.data as { challenge: string });
  };
  const answers = [await begin(), await begin(), await begin()];
  await console.deps.db.insert(passkeys).values(
    Array.from({ length: 18 }, (_, n) => ({
      id: crypto.randomUUID(),
      userId: user.id,
      credentialId: `filled-${n}`,
      publicKey: new Uint8Array(1),
      counter: 0,
      isSynced: false,
      name: "Key",
    })),
  );
  const kept = await Promise.all(
    answers.map((response) => visitor.call("account.addPasskey", { response, name: "Key" })),
  );
  expect(kept.filter(({ ok }) => ok)).toHaveLength(2);
  expect(kept.find(({ ok }) => !ok)).toMatchObject({ code: "CONFLICT" });
  expect(await console.deps.db.$count(passkeys, eq(passkeys.userId, user.id))).toBe(20);
});
