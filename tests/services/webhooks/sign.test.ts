import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { createSigningSecret, signatureHeaders } from "#server/services/webhooks/signing";

/** The test vector of the Standard Webhooks libraries, and the example in Svix's documentation. */
const VECTORS = [
  {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestampSeconds: 1_614_265_330,
    body: '{"test": 2432232314}',
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  },
  {
    id: "msg_loFOjxBNrRLzqYUf",
    timestampSeconds: 1_731_705_121,
    body: '{"event_type":"ping","data":{"success":true}}',
    secret: "whsec_plJ3nmyCDGBKInavdOK15jsl",
    signature: "v1,rAvfW3dJ/X/qxhsaXPOyyCGmRKsaKWcsNccKXlIktD0=",
  },
];

test.each(VECTORS)(
  "the published vector $id is signed as published, under both families of header names",
  ({ secret, signature, ...signing }) => {
    const { id, timestampSeconds, body } = signing;
    expect(signatureHeaders({ ...signing, secrets: [secret] })).toEqual({
      "webhook-id": id,
      "webhook-timestamp": String(timestampSeconds),
      "webhook-signature": signature,
      "svix-id": id,
      "svix-timestamp": String(timestampSeconds),
      "svix-signature": signature,
    });
    expect(new Webhook(secret).sign(id, new Date(timestampSeconds * 1_000), body)).toBe(signature);
  },
);

test("all active secrets sign, and the reference library verifies each signature", () => {
  const secrets = [createSigningSecret(), createSigningSecret()];
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const body = JSON.stringify({ text: "ü €  " });
  const headers = signatureHeaders({ id: "0199-a", timestampSeconds, body, secrets });
  expect(headers["webhook-signature"]?.split(" ")).toHaveLength(2);
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  expect(() => new Webhook(createSigningSecret()).verify(body, headers)).toThrow();
  for (const [index, secret] of secrets.entries())
    expect(headers["webhook-signature"]?.split(" ")[index]).toBe(
      new Webhook(secret).sign("0199-a", new Date(timestampSeconds * 1_000), body),
    );
});

test("a secret is 24 random bytes in standard base64 without padding", () => {
  const secrets = Array.from({ length: 200 }, createSigningSecret);
  expect(new Set(secrets).size).toBe(200);
  for (const secret of secrets) expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(secrets.some((secret) => /[+/]/.test(secret))).toBe(true);
});
