import { z } from "zod";
import { parseJson } from "#server/shared/text/parse-json";
import {
  type AggregateReport,
  depthMax,
  headOf,
  Refused,
  type ReportRow,
  recordsMax,
  toCount,
  toHost,
} from "./report";

/** The failures of RFC 8460 section 4.3. Any other is `other`. */
const FAILURES: readonly string[] = [
  "starttls-not-supported",
  "certificate-host-mismatch",
  "certificate-expired",
  "certificate-not-trusted",
  "validation-failure",
  "tlsa-invalid",
  "dnssec-invalid",
  "dane-required",
  "sts-policy-fetch-error",
  "sts-policy-invalid",
  "sts-webpki-invalid",
];

const Text = z.string().catch("");
const Count = z.union([z.number(), z.string()]).transform(toCount).catch(0);
const TlsReport = z.object({
  "organization-name": Text,
  "contact-info": Text,
  "report-id": z.string(),
  "date-range": z.object({ "start-datetime": z.string(), "end-datetime": z.string() }),
  policies: z.array(
    z.object({
      policy: z.object({ "policy-domain": z.string() }),
      summary: z.object({ "total-successful-session-count": Count, "total-failure-session-count": Count }),
      "failure-details": z
        .array(
          z.object({ "result-type": Text, "receiving-mx-hostname": Text, "failed-session-count": Count }),
        )
        .nullish(),
    }),
  ),
});

/** Parses a TLS report (RFC 8460 section 4.4). Null if it is another document. Takes linear time. */
export function parseTlsReport(json: string): AggregateReport | null {
  requireShallow(json);
  const value = parseJson(json);
  if (value === null) throw new Refused("unreadable");
  const { success, data } = TlsReport.safeParse(value);
  if (!success) return null;
  const rows: ReportRow[] = [];
  for (const { policy, summary, "failure-details": details } of data.policies) {
    const domain = toHost(policy["policy-domain"]);
    const add = (source: string, detail: string, count: number) => {
      if (rows.push({ domain, source, detail, signatures: [], isAligned: detail === "", count }) > recordsMax)
        throw new Refused("too_many_records");
    };
    add("", "", summary["total-successful-session-count"]);
    let unexplained = summary["total-failure-session-count"];
    for (const each of details ?? []) {
      const type = each["result-type"].trim().toLowerCase();
      add(
        toHost(each["receiving-mx-hostname"]),
        FAILURES.includes(type) ? type : "other",
        each["failed-session-count"],
      );
      unexplained -= each["failed-session-count"];
    }
    if (unexplained > 0) add("", "other", unexplained);
  }
  const { "start-datetime": begin, "end-datetime": end } = data["date-range"];
  const id = data["report-id"];
  const head = headOf({ name: data["organization-name"], contact: data["contact-info"], id, begin, end });
  return { kind: "tls", ...head, rows };
}

/** Refuses deep nesting, each level of which takes memory. Braces in strings do not count. */
function requireShallow(json: string): void {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (isText && char === "\\") at++;
    else if (char === '"') isText = !isText;
    else if (!isText && (char === "{" || char === "[")) {
      if (++depth > depthMax) throw new Refused("too_deep");
    } else if (!isText && (char === "}" || char === "]")) depth--;
  }
}
