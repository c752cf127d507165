import fc from "fast-check";
import { expect, test } from "vitest";
import { openFreshDatabase } from "../support/database/postgres";
import { forAllTests } from "../support/fixtures";

const database = forAllTests(openFreshDatabase);

const text = fc
  .oneof(
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("NULL", "null", "", "{}", ",", '"', "\\", '\\"', " a ", "\n"),
  )
  .filter((value) => !value.includes("\0"));

test("a list of texts round-trips through the database", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(text)), async (values) => {
      const [row] = await database.hot`select ${values}::text[] as back, to_jsonb(${values}::text[]) as seen`;
      expect(row).toEqual({ back: values, seen: values });
    }),
    { numRuns: 100, seed: 1 },
  );
});

test("arrays of each used type round-trip through the database", async () => {
  const id = "01a1fd50-5fc5-74e6-b030-33aaed635cca";
  const time = "2026-01-31T09:00:00.000Z";
  const { hot } = database;
  const [row] = await hot`
    select ${[1, -2, null]}::int[] as ints, ${[1, 2]}::smallint[] as smallints, ${[1.5]}::float8[] as floats,
      ${[id]}::uuid[] as ids, ${[time]}::timestamptz[] as times, array[true, false] as flags,
      array['\\x00ff'::bytea] as bytes, array['{"a": [1, "x"]}'::jsonb] as json, '{}'::text[] as none`;
  expect(row).toEqual({
    ints: [1, -2, null],
    smallints: [1, 2],
    floats: [1.5],
    ids: [id],
    times: [new Date(time)],
    flags: [true, false],
    bytes: [Buffer.from([0, 255])],
    json: [{ a: [1, "x"] }],
    none: [],
  });
});

test("an undefined element throws and is not sent as null", async () => {
  await expect(database.hot.unsafe("select $1::text[]", [["a", undefined] as never])).rejects.toThrow(
    "undefined",
  );
});
