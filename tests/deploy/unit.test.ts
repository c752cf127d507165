import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { projectRoot } from "../support/processes/processes";

const unit = path.join(projectRoot, ".github/deploy/backstamp.service");
const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
/** From 0 (confined) to 10. A service without any confinement has 9.6. */
const exposureMax = 2;

// A root with the program, because systemd checks that it exists.
const root = mkdtempSync(path.join(tmpdir(), "backstamp-unit-"));
const program = path.join(root, "opt/backstamp/backstamp");
mkdirSync(path.dirname(program), { recursive: true });
writeFileSync(program, "#!/bin/sh\n");
chmodSync(program, 0o755);
afterAll(() => rmSync(root, { recursive: true, force: true }));

function verify(text: string): { status: number | null; output: string } {
  const file = path.join(root, "backstamp.service");
  writeFileSync(file, text.replaceAll("/opt/backstamp/backstamp", program));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file], {
    encoding: "utf8",
  });
  const ours = `${stdout}${stderr}`.split("\n").filter((line) => line.includes("backstamp"));
  return { status, output: ours.join("\n") };
}

test.runIf(hasSystemd)("systemd-analyze verify accepts the unit, also with its optional settings", () => {
  const text = readFileSync(unit, "utf8");
  const withAll = text.replace(/^#(?=[A-Z]\w+=)/gm, "");
  for (const each of [text, withAll]) expect(verify(each)).toEqual({ status: 0, output: "" });
});

/** Folders that a guide or the reference names for files that the service writes or reads. */
const documents = ["app/docs/guides/backup.md", "app/docs/guides/systemd.md"];

test.each(documents)("the folder of scheduled backups in %s is one that the service can write", (name) => {
  const text = readFileSync(path.join(projectRoot, name), "utf8");
  const [, state] = /^StateDirectory=(.+)$/m.exec(readFileSync(unit, "utf8")) ?? [];
  const folders = [...text.matchAll(/BACKSTAMP_BACKUP_TO=(\/\S+?)`?(?:\s|$)/g)].map(([, folder]) => folder);
  for (const folder of folders) expect(folder).toMatch(new RegExp(`^/var/lib/${state}/`));
});

test.runIf(hasSystemd)("the unit confines the service: an exposure below 2 of 10", () => {
  const { stdout } = spawnSync("systemd-analyze", ["security", "--offline=true", unit], { encoding: "utf8" });
  const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
  expect(Number(exposure)).toBeLessThan(exposureMax);
});
