import { expect, test } from "vitest";
import { formatJson } from "../../app/console/_ui/text/format-json";

test.each([
  [
    '{"a":1,"b":[true,null],"c":{},"d":[]}',
    '{\n  "a": 1,\n  "b": [\n    true,\n    null\n  ],\n  "c": {},\n  "d": []\n}',
  ],
  [" [ ] ", "[]"],
  ['{"id":12345678901234567890,"n":1.0}', '{\n  "id": 12345678901234567890,\n  "n": 1.0\n}'],
  ['{"text":"a \\"{,:}\\" \\\\"}', '{\n  "text": "a \\"{,:}\\" \\\\"\n}'],
])("%s is indented with the exact names and values", (text, formatted) => {
  expect(formatJson(text)).toBe(formatted);
  expect(JSON.parse(formatted)).toEqual(JSON.parse(text));
});

test.each(["", "ok", '"ok"', "7", "null", '{"cut":"of', "<p>{}</p>", "{'a': 1}"])(
  "%j is unchanged, because only JSON objects and arrays are indented",
  (text) => {
    expect(formatJson(text)).toBeNull();
  },
);

test("a deeply nested text is not indented", () => {
  expect(formatJson("[".repeat(8_000) + "]".repeat(8_000))).toBeNull();
});
