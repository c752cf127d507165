import { parse } from "csv-parse/sync";
import { describe, expect, test } from "vitest";
import { type CsvColumn, csvHead, csvLines, writeCsv } from "#server/platform/http/csv";
import { defuseCell, restoreCell } from "#server/shared/text/csv-cell";

type Row = { name: string; count: number | null; at: Date };
const columns: CsvColumn<Row>[] = [
  { name: "name", of: ({ name }) => name },
  { name: "count", of: ({ count }) => count },
  { name: "at", of: ({ at }) => at },
];
const at = new Date("2026-03-01T10:00:00Z");

describe("a cell that a program would compute is shown as text", () => {
  test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "＝1", "－1"])("%j", (text) => {
    expect(defuseCell(text)).toBe(`'${text}`);
    expect(restoreCell(defuseCell(text))).toBe(text);
  });

  test.each(["a=1", "", "'quoted'", "ann@example.org", " =1", "1-1"])("%j stays as it is", (text) => {
    expect(defuseCell(text)).toBe(text);
    expect(restoreCell(text)).toBe(text);
  });

  test("numbers are numbers, also below zero", () => {
    expect(csvLines(columns, [{ name: "x", count: -5, at }])).toBe("x,-5,2026-03-01T10:00:00.000Z\r\n");
  });
});

test("an escaped cell is restored to its original text", () => {
  const names = ['a "quoted", one', "two\nlines", "a;b", "", "é漢\u202e", "'", "=cmd|' /C calc'!A0"];
  const text =
    csvHead(columns) +
    csvLines(
      columns,
      names.map((name) => ({ name, count: null, at })),
    );
  const [head, ...lines] = parse(text) as string[][];
  expect(head).toEqual(["name", "count", "at"]);
  expect(lines.map(([name = ""]) => restoreCell(name))).toEqual(names);
});

test("an export reads its source one batch at a time, on demand", async () => {
  let read = 0;
  async function* batches() {
    for (const count of [1, 2]) {
      read++;
      yield [{ name: "x", count, at }];
    }
    yield [];
  }
  const export_ = writeCsv(columns, batches());
  expect((await export_.next()).value).toBe("name,count,at\r\n");
  expect(read).toBe(0);
  expect((await export_.next()).value).toContain("x,1");
  expect(read).toBe(1);
  expect((await export_.next()).value).toContain("x,2");
  expect(await export_.next()).toEqual({ done: true, value: undefined });
});
