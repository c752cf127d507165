import fc from "fast-check";
import { z } from "zod";
import { anyText } from "../support/any-text";
import { type Field, unwrapSchema } from "../support/database/schema-fields";

const id = "018f0000-0000-7000-8000-000000000001";

/** Values for the fields of the API: what a field's schema accepts is valid. */
const POOL: readonly unknown[] = [
  ...[true, false, 0, 1, 60, 3_600, "true", "false", "1", "7", "100"],
  ...["enabled", "disabled", "backstamp.test", "welcome-mail", "news", "strict", "x", id, `1_${id}`],
  ...["Grüße, Ünïcödé 😀 עברית عنوان", "a".repeat(900), "<p>{{NAME}} {{{NAME}}}</p>", "100 % _ \\ ' \" ; --"],
  ...[
    "ann@backstamp.test",
    "Ännchen <ann@backstamp.test>",
    ["delivered@backstamp.test", "slow@backstamp.test"],
  ],
  ...["2026-11-01T00:00:00Z", "2026-11-01T01:00:00+02:00", "2026-11-01", "in 1 hour", "tomorrow at 9am"],
  ...["emails:send", "full_access", "email.delivered", "email.sent,email.bounced", "4xx", "429", "a:b"],
  ...[
    ["full_access"],
    ["emails:send", "emails:read"],
    ["email.delivered", "email.bounced"],
    ["backstamp.test"],
  ],
  ...[{ NAME: "Ann", N: 3 }, { "X-Entity-Ref-ID": "1" }, { other: 5 }, { sending: "enabled" }],
  ...[[{ name: "a", value: "b" }], [{ key: "NAME", type: "string", fallback_value: "you" }]],
  ...[[{ content: "aGk=", filename: "a.txt" }], [{ content: [104, 105] }], "aGk=", [104, 105]],
  ...["application/pdf", "a.txt", "logo", "http://127.0.0.1:9/hooks", null, "", []],
];

const accepted = new Map<Field["schema"], unknown[]>();

/** The valid values for a field, at least one that omits it if possible. */
export function goodValuesFor({ schema }: Field): unknown[] {
  const known = accepted.get(schema);
  if (known) return known;
  const options = unwrapSchema(schema).flatMap((core) => (core instanceof z.ZodEnum ? core.options : []));
  const good = [...POOL, ...options].filter((value) => takes(schema, value));
  accepted.set(schema, good);
  return good;
}

/** Whether a schema accepts a value. Some throw for contradictory values. */
export function takes(schema: z.ZodType | undefined, value: unknown): boolean {
  try {
    return schema?.safeParse(value).success ?? value === undefined;
  } catch {
    return false;
  }
}

/** A JSON body nested as deep as requested. */
const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let n = 0; n < depth; n++) value = n % 2 ? [value] : { a: value };
  return value;
};

const ODD_TEXTS: readonly string[] = [
  ...["", " ", "\0", "a\0b", "\ud800", "a\udfffb", "\u202eabc", "\ufeff", "\uffff", "😀".repeat(900)],
  ...["a\r\nBcc: x@example.com", "a\nb", "\r", "\t", "\u0085", "\u2028", "\u007f", "İ", "ß".repeat(300)],
  ...["' or 1=1 --", "\\", "%", "%00", "_", "{{", "{{#a}}", "{{{a", "../../etc/passwd", "<script>"],
  ...["__proto__", "constructor", "toString", "null", "NaN", "-1", "1e999", "9".repeat(40), "0x10"],
  ...["2026-02-30T00:00:00Z", "+275760-09-13T00:00:00Z", "0000-01-01", "in 99999999999 years", "now"],
  ...["a@b", "a@@b.c", "<a@b.c", `${"a".repeat(65)}@example.com`, `a@${"b.".repeat(130)}com`, "a@xn--a.com"],
  ...[id.toUpperCase(), id.slice(1), "00000000-0000-0000-0000-000000000000", `99999999999999999999_${id}`],
];

/** Unusual text that every field must handle. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...ODD_TEXTS),
  anyText(30),
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.constantFrom("x", "é", "😀", "{{a}}", "(", "a@b.c,").map((piece) => piece.repeat(20_000)),
);

/** Any JSON value, and some that JSON should not contain. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { arbitrary: oddText, weight: 6 },
  { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 3 },
  {
    arbitrary: fc.constantFrom(
      ...[null, true, false, 0, -0, -1, 0.5, 1e308, 2 ** 53, 2 ** 31, -(2 ** 63), [], {}, [[]], [null], [{}]],
      ...[
        nested(20),
        nested(60),
        Array(1_001).fill("a"),
        Array(60).fill("a@example.com"),
        Array(5_000).fill(7),
      ],
      JSON.parse('{"__proto__":{"a":1}}'),
      { constructor: { prototype: { a: 1 } } },
      { toString: 1, valueOf: null, length: -1 },
      Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`k${n}`, n])),
    ),
    weight: 3,
  },
);
