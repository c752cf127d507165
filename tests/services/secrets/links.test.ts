import { encode } from "next-auth/jwt";
import { expect, test } from "vitest";
import { decodeToken } from "#server/auth/tokens";
import type { RestDeps } from "#server/deps";
import { firstIdAt } from "#server/platform/ids";
import { admitKeyring } from "#server/services/secrets/registry";
import { activateSecret } from "#server/services/secrets/rotate";
import { installationSecret } from "../../support/deps";
import { forEachTest } from "../../support/fixtures";
import { callApi, startRest } from "../../support/rest";
import { foreignSecret, newSecret, openRingWorld } from "./ring-world";

const world = forEachTest(openRingWorld);

test("links and return paths of a former secret work, and an email keeps its links in every attempt", async () => {
  const both = world.processWith(newSecret, installationSecret);
  await admitKeyring(both);
  // Not new ids: an earlier test of this process may have moved its clock, which ids never go back behind.
  const [teamId, emailId, deliveryId] = [world.id, firstIdAt(new Date()), firstIdAt(new Date())];
  const who = { teamId, emailId, address: "ann@example.com" };
  const copy = { teamId, emailId, deliveryId };
  const tokenOf = (link: string) => link.slice(link.lastIndexOf("/") + 1);
  const partsOf = ({ recipientTokens: tokens }: RestDeps) => [
    tokens.unsubscribeLink(who),
    tokens.openLink(copy),
    tokens.clickLink(copy, "https://shop.example"),
    tokens.returnPath(deliveryId),
  ];
  const expiresAt = new Date(world.clock.now().getTime() + 3_600_000);
  const file = world.deps.links.make("/api/attachments/{token}", [teamId, emailId, deliveryId], expiresAt);
  const before = partsOf(world.deps);
  expect(partsOf(both)).toEqual(before);
  await activateSecret(both);
  expect(partsOf(both)).toEqual(before);
  const [unsubscribe = "", open = "", click = "", returnPath = ""] = before;
  const opened = ({ recipientTokens: tokens, links, clock }: RestDeps) => [
    tokens.openUnsubscribe(tokenOf(unsubscribe)) !== null,
    tokens.openOpen(tokenOf(open)) !== null,
    tokens.openClick(tokenOf(click)) !== null,
    tokens.openReturnPath(returnPath) !== null,
    links.open("/api/attachments/{token}", tokenOf(file), clock()) !== null,
  ];
  expect(opened(both)).toEqual([true, true, true, true, true]);
  const onlyNew = openDepsAlone();
  expect(opened(onlyNew)).toEqual([false, false, false, false, false]);
  // Two minutes after the activation, when every worker has learned of it, the new secret signs.
  const later = { ...who, emailId: firstIdAt(new Date(Date.now() + 130_000)) };
  expect(
    world.deps.recipientTokens.openUnsubscribe(tokenOf(both.recipientTokens.unsubscribeLink(later))),
  ).toBeNull();
  expect(
    onlyNew.recipientTokens.openUnsubscribe(tokenOf(both.recipientTokens.unsubscribeLink(later))),
  ).toEqual({ ...later, list: null });
});

/** A process with only the new secret, which no database has checked. */
const openDepsAlone = () => world.processWith(newSecret);

test("the inbound token and the sessions of a former secret are accepted", async () => {
  const both = world.processWith(newSecret, installationSecret);
  const server = await startRest(both);
  const statusOf = async (token: string | null) =>
    (await callApi(server.baseUrl, "POST", "/api/inbound/message", { token: token ?? "", body: {} })).status;
  expect(await statusOf(both.inboundToken)).not.toBe(401);
  expect(await statusOf(world.deps.inboundToken)).not.toBe(401);
  expect(await statusOf(world.processWith(foreignSecret).inboundToken)).toBe(401);
  await server.close();

  const secretsOf = (...secrets: [string, ...string[]]) => ({ authSecrets: () => secrets });
  const token = await encode({ token: { sid: "1" }, secret: "former" });
  expect(await decodeToken(secretsOf("new", "former"), token)).toMatchObject({ sid: "1" });
  expect(await decodeToken(secretsOf("new"), token)).toBeNull();
});
