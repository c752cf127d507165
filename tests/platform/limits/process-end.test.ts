import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startSilentTestServer } from "../../support/servers/silent-test-server";

const root = fileURLToPath(new URL("../../..", import.meta.url));

test.each(["redis", "upstash"])(
  "a process whose %s never responds exits after its limiter is closed",
  async (kind) => {
    const peer = await startSilentTestServer();
    onTestFinished(() => peer.stop());
    const scheme = kind === "redis" ? "redis" : "http";
    const store = { kind, url: `${scheme}://127.0.0.1:${peer.port}`, token: "t" };
    const script = `
      import { createLimits } from "#server/platform/limits/limits";
      const log = { info() {}, warn: (event) => process.stdout.write(event), error() {} };
      const limits = createLimits({ store: ${JSON.stringify(store)}, clock: () => Date.now(), log });
      const verdict = await limits.take("key", "other", 3);
      process.stdout.write(" " + verdict.remaining);
      await limits.close();
    `;
    const args = ["--import", "tsx", "--input-type=module", "--eval", script];
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    const [code] = await once(child, "exit");
    expect({ code, output }).toEqual({ code: 0, output: "limits.store_unreachable 2" });
  },
);
