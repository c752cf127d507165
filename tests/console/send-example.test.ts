import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { FIRST_EMAIL, formatCurl } from "../../app/console/_ui/text/send-example";

/** The arguments that a shell passes to curl, which is a shell function here. */
const argumentsOf = (command: string): string[] =>
  execFileSync("sh", ["-c", `curl() { printf '%s\\0' "$@"; }\n${command}`], {
    env: { ...process.env, BACKSTAMP_KEY: "re_key" },
    encoding: "utf8",
  })
    .split("\0")
    .slice(0, -1);

test("a shell parses the example call correctly, whatever the email contains", () => {
  for (const mail of [FIRST_EMAIL, { subject: 'Ann\'s "$HOME" `id`\nand \\ more', html: "'; exit 1 #" }]) {
    const given = argumentsOf(formatCurl("http://localhost:3000", mail));
    expect(given.slice(0, -1)).toEqual([
      "-sS",
      "http://localhost:3000/api/emails",
      ...["-H", "Authorization: Bearer re_key", "-H", "Content-Type: application/json", "-d"],
    ]);
    expect(JSON.parse(given.at(-1) ?? "")).toEqual(mail);
  }
});
