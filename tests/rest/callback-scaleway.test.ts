import { afterAll, expect, test } from "vitest";
import { startSnsIssuer } from "../support/servers/sns-issuer";
import { fakeScaleway } from "../support/servers/table-providers";
import { openCallbackApp, UNAUTHORIZED } from "./callback-app";

const issuer = await startSnsIssuer("scaleway");
const app = await openCallbackApp();
app.world.deps.outside = issuer.outside;
const fake = fakeScaleway(issuer);
const relayId = await app.relayOf(fake);
afterAll(() => issuer.close());

const post = (fields: object) =>
  app.post(relayId, { raw: JSON.stringify(fields), headers: { "content-type": "text/plain" } });

test("the authorities must be reachable, and the certificate must be issued by one of them", async () => {
  const sent = await app.sent(relayId, fake);
  const Message = JSON.stringify(fake.report({ kind: "bounced", ...sent }));
  issuer.answerAs(503);
  expect((await post(issuer.message({ Message }))).status).toBe(503);
  issuer.answerAs(null);
  const { certificate: signer, url } = issuer.stranger;
  expect(await post(issuer.message({ Message, SigningCertURL: url }, { signer }))).toMatchObject(
    UNAUTHORIZED,
  );
  const elsewhere = { Message, SigningCertURL: "https://messaging.s3.pl-waw.scw.cloud/a.pem" };
  expect(await post(issuer.message(elsewhere))).toMatchObject(UNAUTHORIZED);
  expect(await app.statusOf(sent.id)).toBe("sent");
  expect((await post(issuer.message({ Message }))).body).toMatchObject({ recorded: 1 });
  expect(await app.statusOf(sent.id)).toBe("bounced");
});

test("a subscription is confirmed at the host of the topic's region", async () => {
  issuer.sink.received.length = 0;
  expect((await post(issuer.confirmation())).status).toBe(200);
  const confirmed = issuer.sink.received.find(({ path }) => path.includes("ConfirmSubscription"));
  expect(confirmed).toMatchObject({ method: "GET", serverName: "sns.mnq.fr-par.scaleway.com" });
});
