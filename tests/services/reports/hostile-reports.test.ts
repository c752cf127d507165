import { gzipSync } from "node:zlib";
import { zipSync } from "fflate";
import { expect, test } from "vitest";
import { daysAgo, dmarcXml, gz, openReportWorld, plain, type TestFile, tlsJson, zip } from "./report-world";

const { hot, addDomain, reports, mail, submit } = await openReportWorld();
const { id, address, name } = await addDomain("oak.example");

const rowCount = async () => (await hot`select from domain_report_counts where domain_id = ${id}`).length;
const record = { ip: "203.0.113.1" };
const nested = (levels: number) =>
  dmarcXml(name, [record]).replace("<record>", `<record>${"<a>".repeat(levels)}${"</a>".repeat(levels)}`);
const mebibyte = 1024 * 1024;
/** Megabytes of blanks in a small file, before a report in the case of zip. */
const blanks = (megabytes: number) => Buffer.alloc(megabytes * mebibyte, " ");
const gzOfBlanks = (megabytes: number) => ({ filename: "a.gz", content: gzipSync(blanks(megabytes)) });
const zipOfBlanks = (megabytes: number): TestFile => ({
  filename: "report.zip",
  content: Buffer.from(
    zipSync({ "a.xml": blanks(megabytes), "b.xml": Buffer.from(dmarcXml(name, [record])) }),
  ),
});
const laughs = `<!DOCTYPE feedback [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]>`;
const cut = (file: TestFile, bytes: number): TestFile => ({
  ...file,
  content: file.content.subarray(0, bytes),
});
const records = (count: number) =>
  dmarcXml(
    name,
    Array.from({ length: count }, (_, at) => ({ ip: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}` })),
  );

const HOSTILE: [reason: string, what: string, () => TestFile[]][] = [
  ["too_large", "a zip bomb", () => [zipOfBlanks(16)]],
  ["too_large", "a gzip bomb", () => [gzOfBlanks(64)]],
  ["too_large", "several files with too much content together", () => [gzOfBlanks(6), gzOfBlanks(6)]],
  ["doctype", "nested entities", () => [plain(dmarcXml(name, [record], { head: laughs, reporter: "&c;" }))]],
  [
    "doctype",
    "an external entity",
    () => [gz(dmarcXml(name, [record], { head: `<!doctype feedback SYSTEM "http://127.0.0.1/x">` }))],
  ],
  ["too_large", "100,000 records", () => [gz(records(100_000))]],
  ["too_many_records", "15,000 records", () => [gz(records(15_000))]],
  [
    "too_many_records",
    "a TLS report with 20,000 failures",
    () => [
      gz(
        tlsJson(
          name,
          1,
          Array.from({ length: 20_000 }, () => ({ type: "validation-failure", count: 1 })),
        ),
      ),
    ],
  ],
  ["too_deep", "a million nested elements", () => [gz(nested(1_000_000))]],
  ["too_deep", "a million nested arrays", () => [gz(`{"policies":${"[".repeat(1_000_000)}`)]],
  [
    "too_many_files",
    "an archive of 1,000 files",
    () => [zip(...Array.from({ length: 1_000 }, () => "<feedback/>"))],
  ],
  ["unreadable", "a gzip file that is cut off", () => [cut(gz(dmarcXml(name, [record])), 200)]],
  ["unreadable", "a zip file that is cut off", () => [cut(zip(dmarcXml(name, [record])), 200)]],
  ["unreadable", "a report that is cut off", () => [cut(plain(dmarcXml(name, [record])), 600)]],
  [
    "unreadable",
    "a report without a period",
    () => [plain(dmarcXml(name, [record]).replace(/<begin>\d+/, "<begin>"))],
  ],
  ["unreadable", "a report of the far future", () => [plain(dmarcXml(name, [record], { begin: 9e15 }))]],
  ["unreadable", "JSON that is cut off", () => [cut(plain(tlsJson(name, 1, [])), 100)]],
  ["no_aggregate", "another document", () => [plain("<html><body>Hello</body></html>"), plain('{"a":1}')]],
  [
    "no_aggregate",
    "an archive in an archive",
    () => [{ filename: "a.gz", content: gzipSync(zip(dmarcXml(name, [record])).content) }],
  ],
];

test.each(HOSTILE)("%s: %s is not recorded, by SMTP or HTTP", async (reason, _, files) => {
  const before = await rowCount();
  const made = files();
  expect(await mail(address, ...made)).toMatch(/^250/);
  const { kind, recorded, ignored } = await submit(address, made);
  expect({ kind, recorded }).toEqual({ kind: "aggregate", recorded: 0 });
  expect(ignored.map((each) => each.reason)).toContain(reason);
  expect(ignored.every(({ reason_text }) => reason_text.length > 20)).toBe(true);
  expect(await rowCount()).toBe(before);
});

test("a message that is longer than what is read is refused, with the reason", async () => {
  const text = dmarcXml(
    name,
    Array.from({ length: 9_000 }, (_, at) => ({ ip: `10.1.${at >> 8}.${at & 255}` })),
  );
  expect(await submit(address, [plain(text)])).toMatchObject({
    recorded: 0,
    ignored: [{ reason: "unreadable" }],
  });
});

test("10,000 sources count in full, those with the most messages with their address", async () => {
  const elm = await addDomain("elm.example");
  const xml = dmarcXml(
    elm.name,
    Array.from({ length: 10_000 }, (_, at) => ({
      ip: `10.2.${at >> 8}.${at & 255}`,
      count: at === 7_000 ? 900 : 1,
    })),
  );
  expect(await mail(elm.address, gz(xml))).toMatch(/^250/);
  const { shares, sources } = await reports(elm.id);
  expect(shares).toMatchObject({ total: 10_899, othersUnaligned: 10_899 });
  expect(sources.slice(0, 2)).toMatchObject([
    { source: "", messages: 9_800 },
    { source: "10.2.27.88", messages: 900 },
  ]);
  expect(await hot`select from domain_report_counts where domain_id = ${elm.id}`).toHaveLength(201);
});

test("a storm of reports is bounded, and counts are kept", async () => {
  const ash = await addDomain("ash.example");
  const records = Array.from({ length: 300 }, (_, at) => ({ ip: `10.3.${at >> 8}.${at & 255}` }));
  const send = (from: number) =>
    submit(ash.address, [
      zip(
        ...Array.from({ length: 5 }, (_, at) =>
          dmarcXml(ash.name, from < 20 ? records : [record], {
            id: `${from + at}`,
            reporter: `r${from + at}.example`,
          }),
        ),
      ),
    ]);
  for (let from = 0; from < 20; from += 5) expect(await send(from)).toMatchObject({ recorded: 5 });
  expect((await reports(ash.id)).shares.total).toBe(6_000);
  const [{ rows } = { rows: 0 }] = await hot<{ rows: number }[]>`
    select count(*)::int as rows from domain_report_counts where domain_id = ${ash.id} and source <> ''`;
  expect(rows).toBeLessThanOrEqual(2_000);

  await hot`insert into domain_reports (team_id, domain_id, kind, reporter, report_hash, ends_at)
    select team_id, domain_id, kind, 'storm.example', n::text, now() from domain_reports, generate_series(1, 480) n
    where domain_id = ${ash.id} and reporter = 'r0.example'`;
  expect(await send(100)).toMatchObject({
    recorded: 0,
    ignored: Array(5).fill({ reason: "too_many_reports" }),
  });
  await hot`update domain_reports set received_at = received_at - interval '25 hours' where domain_id = ${ash.id}`;
  expect(await send(100)).toMatchObject({ recorded: 5 });
});

test("texts of a report are stored only as host names, addresses and known words", async () => {
  const fir = await addDomain("fir.example");
  const xml = dmarcXml(
    fir.name,
    [{ ip: "ben@example.net", signed: ["Ben <ben@example.net>", "s"], dkim: "pass" }],
    {
      id: "ben@example.net",
      reporter: "Ben &lt;ben@example.net&gt;",
      begin: daysAgo(3),
    },
  );
  await mail(fir.address, gz(xml));
  await mail(
    fir.address,
    gz(tlsJson(fir.name, 1, [{ type: "ben@example.net", host: "ben@example.net", count: 1 }])),
  );
  expect((await reports(fir.id)).shares).toMatchObject({ total: 1, others: 1 });
  const rows =
    await hot`select to_jsonb(c)::text as row from domain_report_counts c where domain_id = ${fir.id}
    union all select to_jsonb(r)::text from domain_reports r where domain_id = ${fir.id}`;
  expect(rows).toHaveLength(5);
  expect(JSON.stringify(rows)).not.toContain("ben");
});
