import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createWorld } from "../support/world";
import { type Desk, openDesk } from "./desk";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.close());

describe("who may send in whose name", () => {
  test("a domain that is not linked to the key is the interface's 403, whether it exists or not", async () => {
    await desk.world.domain("unlinked.org");
    const bound = await desk.world.key({ domains: ["example.org"] });
    for (const from of ["ann@unlinked.org", "ann@nowhere.org", "ann@sub.example.org", "ann@badexample.org"]) {
      const { status, body } = await desk.world.api("POST", "/api/emails", {
        token: bound.token,
        body: { ...desk.mail, from },
      });
      expect({ status, body }).toEqual({
        status: 403,
        body: { error: "Insufficient API key permissions" },
      });
    }
  });

  test("the same domain in other letters or as Unicode is the same domain", async () => {
    await desk.world.domain("xn--bcher-kva.example");
    await desk.accepted({ from: "ann@EXAMPLE.org" });
    expect((await desk.show(await desk.accepted({ from: "ann@bücher.example" }))).from).toBe(
      "ann@xn--bcher-kva.example",
    );
  });

  test("a linked domain that is not verified is 422 and says how to verify it", async () => {
    await desk.world.domain("new.example.org", { verified: false });
    const { status, body } = await desk.send({ from: "ann@new.example.org" });
    expect(status).toBe(422);
    expect(body.message).toMatch(/new\.example\.org is not verified yet/);
  });

  test("a key linked to all domains may use one that was added after it", async () => {
    await desk.world.domain("later.example.org");
    await desk.accepted({ from: "ann@later.example.org" });
  });
});

test("from the built-in domain mail goes to that domain only, unless it is merely captured", async () => {
  const relay = await createWorld({ transportKind: "relay" });
  try {
    const { token: builtIn } = await relay.key({ domains: ["posthorn.test"] });
    const from = (to: unknown) =>
      relay.api("POST", "/api/emails", {
        token: builtIn,
        body: { ...desk.mail, from: "ann@posthorn.test", to },
      });
    expect((await from("delivered@posthorn.test")).status).toBe(200);
    const { status, body } = await from(["delivered@posthorn.test", "ben@example.net"]);
    expect(status).toBe(422);
    expect(body.message).toMatch(/ben@example\.net.*domain of your own/);
  } finally {
    await relay.close();
  }
  await desk.accepted({ from: "ann@posthorn.test" });
});
