import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createWorld } from "../support/world";
import { openTestApp, type TestApp } from "./test-app";

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});
afterAll(() => app.close());

describe("allowed senders", () => {
  test("a domain that is not linked to the key is the 403 of the specification, whether it exists or not", async () => {
    await app.world.domain("unlinked.org");
    const bound = await app.world.key({ domains: ["example.org"] });
    for (const from of ["ann@unlinked.org", "ann@nowhere.org", "ann@sub.example.org", "ann@badexample.org"]) {
      const { status, body } = await app.world.api("POST", "/api/emails", {
        token: bound.token,
        body: { ...app.validEmail, from },
      });
      expect({ status, body }).toEqual({
        status: 403,
        body: { error: "Insufficient API key permissions" },
      });
    }
  });

  test("letter case and Unicode do not change a domain", async () => {
    await app.world.domain("xn--bcher-kva.example");
    await app.accepted({ from: "ann@EXAMPLE.org" });
    expect((await app.show(await app.accepted({ from: "ann@bücher.example" }))).from).toBe(
      "ann@xn--bcher-kva.example",
    );
  });

  test("a linked domain that is not verified is 422 with instructions to verify it", async () => {
    await app.world.domain("new.example.org", { verified: false });
    const { status, body } = await app.send({ from: "ann@new.example.org" });
    expect(status).toBe(422);
    expect(body.message).toMatch(/new\.example\.org is not verified yet/);
  });

  test("a key for all domains can use one that was added later", async () => {
    await app.world.domain("later.example.org");
    await app.accepted({ from: "ann@later.example.org" });
  });
});

test("from the built-in domain email can be sent only to that domain, unless email is captured", async () => {
  const relay = await createWorld({ transportKind: "relay" });
  try {
    const { token: builtIn } = await relay.key({ domains: ["backstamp.test"] });
    const from = (to: unknown) =>
      relay.api("POST", "/api/emails", {
        token: builtIn,
        body: { ...app.validEmail, from: "ann@backstamp.test", to },
      });
    expect((await from("delivered@backstamp.test")).status).toBe(200);
    const { status, body } = await from(["delivered@backstamp.test", "ben@example.net"]);
    expect(status).toBe(422);
    expect(body.message).toMatch(/ben@example\.net.*your own domain/);
  } finally {
    await relay.close();
  }
  await app.accepted({ from: "ann@backstamp.test" });
});
