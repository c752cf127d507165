import { expect, test } from "vitest";
import { keyIdOfSealed } from "#server/platform/secrets/vault";
import { admitKeyring, refreshKeyring } from "#server/services/secrets/registry";
import { maintainSecrets } from "#server/services/secrets/reseal";
import { activateSecret } from "#server/services/secrets/rotate";
import { createWebhook, rotateSigningSecret } from "#server/services/webhooks/endpoints";
import { installationSecret } from "../../support/deps";
import { forEachTest } from "../../support/fixtures";
import { idOf, newSecret, openRingWorld } from "./ring-world";

const PLACE = { table: "t", column: "c", id: "1", teamId: "" };

const world = forEachTest(openRingWorld);

test("until the database has admitted the secrets, stored values are readable and nothing is encrypted", async () => {
  const process = world.processWith(newSecret, installationSecret);
  const sealed = world.deps.vault.seal("text", PLACE);
  expect(() => process.vault.seal("text", PLACE)).toThrow(
    expect.objectContaining({ code: "unavailable", message: expect.stringContaining("Repeat the request") }),
  );
  expect(process.vault.open(sealed, PLACE)).toBe("text");
  await refreshKeyring(process);
  expect(keyIdOfSealed(process.vault.seal("text", PLACE))).toBe(idOf(installationSecret));
});

test("a value that a process without the new secret stores late is encrypted again within an hour", async () => {
  const { id } = await createWebhook(world.ctx, {
    url: "https://example.com/hook",
    events: ["email.sent"],
    status: "enabled",
  });
  const secretId = async () => {
    const [row] = await world.hot`select secret from webhooks where id = ${id}`;
    return keyIdOfSealed(row?.secret);
  };
  const process = world.processWith(newSecret, installationSecret);
  await admitKeyring(process);
  await activateSecret(process);
  await world.hot`update installation_secrets set active_from = now() where id = ${idOf(newSecret)}`;
  const maintain = () => maintainSecrets(process, () => true);
  await maintain();
  expect(await secretId()).toBe(idOf(newSecret));

  await rotateSigningSecret({ ...world.ctx, vault: world.deps.vault }, id);
  await maintain();
  expect(await secretId()).toBe(idOf(installationSecret));
  await world.hot`update installation_secrets set resealed_at = resealed_at - interval '61 min'`;
  await maintain();
  expect(await secretId()).toBe(idOf(newSecret));
  const [secret] = await world.hot`
    select resealed_at > now() - interval '1 min' as "isRecent" from installation_secrets where id = ${idOf(newSecret)}`;
  expect(secret).toEqual({ isRecent: true });
});
