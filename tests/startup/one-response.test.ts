import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { silentLog } from "#server/platform/log";
import { openHttpServer } from "#server/startup/http/node";

test("a request that is rejected while its body turns out to be unparsable gets one response", async () => {
  const calls: number[] = [];
  const server = await openHttpServer({
    host: "127.0.0.1",
    port: 0,
    apiHost: null,
    rest: Promise.resolve({
      answer: () => Promise.reject(new Error("not called")),
      // The rejection of the path is ready first, that of the body after it was written.
      isTrackingHost: async () => false,
      limitHeaders: async () => {
        await wait(calls.push(0) === 1 ? 1 : 100);
        return {};
      },
    }),
    pages: {
      request: () => Promise.reject(new Error("not called")),
      upgrade: () => Promise.reject(new Error("not called")),
    },
    upgrades: false,
    log: silentLog,
  });
  const socket = connect(server.port, "127.0.0.1");
  let received = "";
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
  });
  socket.write("POST /%zz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
  await new Promise((resolve) => socket.once("close", resolve));
  expect(calls).toHaveLength(2);
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400"]);
  await server.close(1_000);
});
