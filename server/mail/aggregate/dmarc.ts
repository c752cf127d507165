import { Parser } from "htmlparser2";
import {
  type AggregateReport,
  depthMax,
  headOf,
  Refused,
  recordsMax,
  toAddress,
  toCount,
  toHost,
} from "./report";

const textCharsMax = 300;
const signaturesMax = 10;

type Auth = { domain: string; selector: string; result: string };
const newRecord = () => ({
  source: "",
  count: "",
  dkim: "",
  spf: "",
  from: "",
  /** The results of DKIM and of SPF. */
  auths: { dkim: [] as Auth[], spf: [] as Auth[] },
});
type DmarcRecord = ReturnType<typeof newRecord>;

/**
 * Parses an aggregate report of DMARC in any of its versions: RFC 9990, RFC 7489 appendix C, and the drafts
 * before. Elements are known by their name and that of their parent, and others are skipped. No entities are
 * expanded: a document type is refused. Tags that are not closed are tolerated, except that of the report,
 * which is then incomplete. Null if it is another document. Takes linear time.
 */
export function parseDmarcReport(xml: string): AggregateReport | null {
  const path: string[] = [];
  const head = { name: "", contact: "", id: "", begin: "", end: "" };
  const records: DmarcRecord[] = [];
  let policyDomain = "";
  let text = "";
  let state: "none" | "open" | "complete" = "none";

  const set = (parent: string | undefined, name: string, value: string): void => {
    if (parent === "report_metadata" && name === "org_name") head.name = value;
    else if (parent === "report_metadata" && name === "email") head.contact = value;
    else if (parent === "report_metadata" && name === "report_id") head.id = value;
    else if (parent === "date_range" && (name === "begin" || name === "end")) head[name] = value;
    else if (parent === "policy_published" && name === "domain") policyDomain = value;
    else setOfRecord(records.at(-1), parent, name, value);
  };
  const parser = new Parser(
    {
      onprocessinginstruction(name) {
        if (name.toLowerCase().startsWith("!doctype")) throw new Refused("doctype");
      },
      onopentagname(tag) {
        const name = localName(tag);
        if (name === "feedback") state = "open";
        if (path.push(name) > depthMax) throw new Refused("too_deep");
        const parent = path.at(-2);
        if (name === "record" && parent === "feedback" && records.push(newRecord()) > recordsMax)
          throw new Refused("too_many_records");
        if (parent === "auth_results" && (name === "dkim" || name === "spf")) {
          const of = records.at(-1)?.auths[name];
          if (of && of.length < signaturesMax) of.push({ domain: "", selector: "", result: "" });
        }
        text = "";
      },
      ontext(data) {
        if (text.length < textCharsMax) text += data.slice(0, textCharsMax);
      },
      onclosetag(tag, isImplied) {
        path.pop();
        if (localName(tag) !== "feedback")
          set(path.at(-1), localName(tag), text.trim().slice(0, textCharsMax));
        else if (!isImplied) state = "complete";
        text = "";
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  if (state === "none") return null;
  if (state === "open") throw new Refused("unreadable");
  return { kind: "dmarc", ...headOf(head), rows: records.map((record) => rowOf(record, policyDomain)) };
}

const localName = (tag: string): string => tag.slice(tag.indexOf(":") + 1).toLowerCase();

function setOfRecord(
  record: DmarcRecord | undefined,
  parent: string | undefined,
  name: string,
  value: string,
): void {
  if (!record) return;
  if (parent === "row" && name === "source_ip") record.source = value;
  else if (parent === "row" && name === "count") record.count = value;
  else if (parent === "policy_evaluated" && (name === "dkim" || name === "spf"))
    record[name] = value.toLowerCase();
  else if (parent === "identifiers" && name === "header_from") record.from = value;
  else if (parent === "dkim" || parent === "spf") {
    const auth = record.auths[parent].at(-1);
    if (auth && (name === "domain" || name === "selector")) auth[name] = toHost(value);
    else if (auth && name === "result") auth.result = value.toLowerCase();
  }
}

function rowOf({ source, count, dkim, spf, from, auths }: DmarcRecord, policyDomain: string) {
  const signatures = auths.dkim.filter(({ result }) => result === "pass");
  const passed = [...signatures, ...auths.spf.filter(({ result }) => result === "pass")];
  return {
    domain: toHost(from) || toHost(policyDomain),
    source: toAddress(source),
    detail: passed[0]?.domain ?? "",
    signatures: signatures.map(({ domain, selector }) => ({ domain, selector })),
    isAligned: dkim === "pass" || spf === "pass",
    count: toCount(count),
  };
}
