import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { projectRoot } from "../support/processes/processes";

const deploy = path.join(projectRoot, ".github/deploy");
const cases = path.join(projectRoot, "tests/deploy/prometheus-alerts.test.yml");

const { groups } = parse(readFileSync(path.join(deploy, "prometheus-alerts.yml"), "utf8")) as {
  groups: { rules: { alert: string }[] }[];
};
const rules = groups.flatMap((group) => group.rules);

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!hasPromtool)
  process.stdout.write(
    "Alert rules: not checked by promtool, because it is not installed (package prometheus).\n",
  );

function promtool(...args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8", cwd: deploy });
  return { status, output: `${stdout}${stderr}` };
}

test.runIf(hasPromtool)("promtool accepts the alert rules and the configuration", () => {
  expect(promtool("check", "rules", "prometheus-alerts.yml")).toEqual({
    status: 0,
    output: expect.stringContaining(`SUCCESS: ${rules.length} rules found`),
  });
  expect(promtool("check", "config", "--syntax-only", "prometheus.yml")).toMatchObject({ status: 0 });
});

test.runIf(hasPromtool)("each alert fires when it should, and none for a healthy installation", () => {
  expect(promtool("test", "rules", cases)).toEqual({ status: 0, output: expect.stringContaining("SUCCESS") });
});

test("each alert has a row in the guide with what to do", () => {
  const operations = readFileSync(path.join(projectRoot, "app/docs/guides/metrics.md"), "utf8");
  for (const { alert } of rules)
    expect(operations).toMatch(new RegExp(`^\\| \`${alert}\` \\| .{20,} \\|$`, "m"));
});

test("each alert has a case in which it fires", () => {
  const text = readFileSync(cases, "utf8");
  for (const { alert } of rules) {
    expect(text, alert).toContain(`{ eval_time: 50m, alertname: ${alert} }`);
    expect(text, alert).toContain(`'{alertname="${alert}"}', value: 1 }`);
  }
});
