import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CONTENT } from "./threats/content";
import { MESSAGE } from "./threats/message";
import { NETWORK } from "./threats/network";
import { SIGN_IN } from "./threats/sign-in";

describe.each([
  ["in messages", MESSAGE],
  ["from the network", NETWORK],
  ["in the sign-in to the console", SIGN_IN],
  ["in the input and output of the console", CONTENT],
])("threats %s", (_, threats) => {
  test.each(Object.entries(threats))("%s: each referenced test exists", (_threat, evidence) => {
    for (const [file, ...names] of evidence) {
      const source = readFileSync(new URL(`./${file}.test.ts`, import.meta.url), "utf8");
      for (const name of names)
        expect(
          [name, `"${name}"`, `${name}:`].some((form) => source.includes(form)),
          name,
        ).toBe(true);
    }
  });
});
