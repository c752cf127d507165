import { expect, test } from "vitest";
import { closeAfterTest } from "../../support/fixtures";
import { runToExit, startProcess } from "../../support/processes/processes";
import { HANG, startSmtpTestServer } from "../../support/servers/smtp-test-server";

test("a process whose stores never respond exits after its limiters are closed", async () => {
  const peer = closeAfterTest(await startSmtpTestServer({ greeting: HANG }));
  const stores = ["redis", "upstash"].map((kind) => ({
    kind,
    url: `${kind === "redis" ? "redis" : "http"}://127.0.0.1:${peer.port}`,
    token: "t",
  }));
  const script = `
    import { createLimits } from "#server/platform/limits/limits";
    const log = { info() {}, warn: (event) => process.stdout.write(event + " "), error() {} };
    for (const store of ${JSON.stringify(stores)}) {
      const limits = createLimits({ store, clock: () => Date.now(), log });
      const verdict = await limits.take("key", "other", 3);
      process.stdout.write(verdict.remaining + " ");
      await limits.close();
    }
  `;
  const args = ["--import", "tsx", "--input-type=module", "--eval", script];
  expect(await runToExit(await startProcess(process.execPath, args))).toMatchObject({
    code: 0,
    stdout: "limits.store_unreachable 2 limits.store_unreachable 2 ",
    stderr: "",
  });
});
