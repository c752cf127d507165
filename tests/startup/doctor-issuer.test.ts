import { expect, test } from "vitest";
import { closeAfterTest, forAllTests } from "../support/fixtures";
import { type SinkReply, startHttpSink } from "../support/servers/http-sink";
import { createWorld } from "../support/world";
import { type Finding, runDoctor } from "./doctor";

const publicUrl = "https://mail.example.com";
const wait = { timeout: 60_000 };
const world = forAllTests(() => createWorld({ transportKind: "none" }));

/** The findings of the doctor about the settings, with these ones. */
async function examine(env: Record<string, string>): Promise<Finding[]> {
  const { stdout, of } = await runDoctor(world, { BACKSTAMP_URL: publicUrl, ...env });
  expect(stdout).not.toContain("hunter2");
  return of("settings");
}

/**
 * What the doctor finds about an issuer with this path that responds with metadata, changed as given, or with
 * a text.
 */
async function examineIssuer(body: object | string, { status = 200, path = "" } = {}) {
  const sink = closeAfterTest(
    await startHttpSink(
      (): SinkReply => ({
        status,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(typeof body === "string" ? body : { ...metadata, ...body }),
      }),
    ),
  );
  const url = `http://127.0.0.1:${sink.port}${path}`;
  const metadata = {
    issuer: url,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    id_token_signing_alg_values_supported: ["RS256"],
  };
  const findings = await examine({ AUTH_OIDC_ISSUER: url, AUTH_OIDC: "id:hunter2" });
  const requested = sink.received.map((request) => request.path);
  return { url, requested, finding: findings.find(({ subject }) => subject === "AUTH_OIDC_ISSUER") };
}

test("an issuer is read by discovery, and the finding names the redirect URI", wait, async () => {
  const { url, requested, finding } = await examineIssuer({}, { path: "/realms/main/" });
  expect(requested).toEqual(["/realms/main/.well-known/openid-configuration"]);
  expect(finding).toMatchObject({
    status: "ok",
    message: `${url} can be used for sign-in. The redirect URI is ${publicUrl}/api/auth/callback/oidc.`,
  });
});

test("an issuer whose metadata does not allow a sign-in has a finding", wait, async () => {
  const wrong: [object | string, number, RegExp][] = [
    [{ issuer: "https://login.example.com/{tenantid}/v2.0" }, 200, /names the issuer https:\/\/login/],
    [{ id_token_signing_alg_values_supported: ["HS256"] }, 200, /does not sign ID tokens with RS256/],
    ["not found", 404, /responded with status 404 and no metadata/],
    [{ token_endpoint: 5 }, 200, /responded with status 200 and no metadata/],
  ];
  for (const [body, status, message] of wrong)
    expect((await examineIssuer(body, { status })).finding).toMatchObject({
      status: "error",
      message: expect.stringMatching(message),
      advice: expect.stringMatching(/^[A-Z].*\.$/),
    });
});

test("an issuer that does not respond has a finding", wait, async () => {
  const url = "http://127.0.0.1:2";
  expect(await examine({ AUTH_OIDC_ISSUER: url, AUTH_OIDC: "id:hunter2" })).toContainEqual(
    expect.objectContaining({ status: "error", message: expect.stringContaining("could not be read") }),
  );
});

test("invalid settings of the issuer are named", wait, async () => {
  const [finding] = await examine({ AUTH_OIDC_ISSUER: "http://id.example.com" });
  expect(finding).toMatchObject({ status: "error" });
  expect(finding?.message).toMatch(/AUTH_OIDC_ISSUER.*https:\/\/.*AUTH_OIDC: /s);
});
