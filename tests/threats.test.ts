import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CONTENT } from "./threats/content";
import { MESSAGE } from "./threats/message";
import { OUTSIDE } from "./threats/network";
import { SIGN_IN } from "./threats/sign-in";

describe.each([
  ["of a message", MESSAGE],
  ["of what lies outside", OUTSIDE],
  ["at the door of the console", SIGN_IN],
  ["of what the console shows and takes", CONTENT],
])("the dangers %s", (_, dangers) => {
  test.each(Object.entries(dangers))("%s: each of its tests is there", (_danger, proofs) => {
    for (const [file, ...names] of proofs) {
      const source = readFileSync(new URL(`./${file}.test.ts`, import.meta.url), "utf8");
      for (const name of names)
        expect(
          [name, `"${name}"`, `${name}:`].some((form) => source.includes(form)),
          name,
        ).toBe(true);
    }
  });
});
