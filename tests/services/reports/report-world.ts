import { gzipSync } from "node:zlib";
import { zipSync } from "fflate";
import nodemailer from "nodemailer";
import { afterAll } from "vitest";
import type { DomainReports } from "#server/services/reports/read";
import type { DomainView } from "#server/trpc/domains/views";
import { openConsole } from "../../support/console/console";
import { createRoleTeam, type RoleTeam } from "../../support/console/role-teams";
import { startInbound } from "../../support/servers/inbound";
import { startZone } from "../../support/servers/zone";

const names = { mailHost: "mail.backstamp.example", returnPathDomain: null, webHost: null };
const dayS = 24 * 60 * 60;
/** Midnight (UTC) of today, in seconds. */
export const today = Math.floor(Date.now() / 1000 / dayS) * dayS;
export const daysAgo = (days: number): number => today - days * dayS;
/** A day in ISO 8601. */
export const isoDay = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);

export type TestRecord = {
  ip: string;
  count?: number;
  dkim?: "pass" | "fail";
  spf?: "pass" | "fail";
  from?: string;
  /** The domain and the selector of a valid signature. */
  signed?: [domain: string, selector: string];
  /** The domain that SPF authenticated. */
  mailFrom?: string;
};

/** An aggregate report of DMARC in the format of RFC 7489 appendix C. */
export function dmarcXml(
  domain: string,
  records: readonly TestRecord[],
  { id = "1", reporter = "receiver.example", begin = daysAgo(1), head = "" } = {},
): string {
  const rows = records.map(
    ({ ip, count = 1, dkim = "fail", spf = "fail", from = domain, signed, mailFrom }) => `<record>
<row><source_ip>${ip}</source_ip><count>${count}</count>
<policy_evaluated><disposition>none</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated></row>
<identifiers><header_from>${from}</header_from></identifiers>
<auth_results>${signed ? `<dkim><domain>${signed[0]}</domain><selector>${signed[1]}</selector><result>pass</result></dkim>` : ""}
<spf><domain>${mailFrom ?? "other.example"}</domain><result>${mailFrom ? "pass" : "fail"}</result></spf></auth_results>
</record>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>${head}
<feedback><report_metadata><org_name>${reporter}</org_name><email>dmarc@${reporter}</email><report_id>${id}</report_id>
<date_range><begin>${begin}</begin><end>${begin + dayS - 1}</end></date_range></report_metadata>
<policy_published><domain>${domain}</domain><p>none</p></policy_published>
${rows.join("\n")}
</feedback>`;
}

type Failure = { type: string; host?: string; count: number };

/** A TLS report (RFC 8460). */
export const tlsJson = (
  domain: string,
  succeeded: number,
  failures: readonly Failure[],
  id = "tls-1",
): string =>
  JSON.stringify({
    "organization-name": "Receiver",
    "date-range": {
      "start-datetime": new Date(daysAgo(1) * 1000).toISOString(),
      "end-datetime": new Date((today - 1) * 1000).toISOString(),
    },
    "contact-info": "tls@receiver.example",
    "report-id": id,
    policies: [
      {
        policy: { "policy-type": "sts", "policy-domain": domain },
        summary: {
          "total-successful-session-count": succeeded,
          "total-failure-session-count": failures.reduce((sum, { count }) => sum + count, 0),
        },
        "failure-details": failures.map(({ type, host, count }) => ({
          "result-type": type,
          "receiving-mx-hostname": host,
          "failed-session-count": count,
        })),
      },
    ],
  });

export type TestFile = { filename: string; content: Buffer };
export const gz = (text: string): TestFile => ({ filename: "report.xml.gz", content: gzipSync(text) });
export const plain = (text: string): TestFile => ({ filename: "report.xml", content: Buffer.from(text) });
export const zip = (...texts: string[]): TestFile => ({
  filename: "report.zip",
  content: Buffer.from(
    zipSync(Object.fromEntries(texts.map((text, at) => [`${at}.xml`, Buffer.from(text)]))),
  ),
});

/** A console with an inbound listener, and a team with domains of which reports arrive. */
export async function openReportWorld() {
  const { zone, peer } = await startZone();
  const console = await openConsole({
    transportKind: "direct",
    names,
    dnsServers: [peer],
    policy: { hasInboundPort: true },
  });
  const { deps, hot } = console.world;
  const inbound = await startInbound(deps);
  afterAll(async () => {
    await inbound.close();
    await peer.close();
  });
  const ann = await createRoleTeam(console, "Ann's");
  const reports = (id: string, as: RoleTeam = ann) =>
    as.data<DomainReports>("viewer", "domains.reports", { id });

  async function addDomain(name: string, as: RoleTeam = ann) {
    const { id } = await as.data<{ id: string }>("admin", "domains.add", { name });
    const { address } = await reports(id, as);
    return { id, name, address: address ?? "" };
  }
  /** Sends files to an address by SMTP; returns the reply. */
  const mail = (to: string, ...files: TestFile[]) =>
    inbound.send({
      from: "dmarc@receiver.example",
      to,
      subject: "Report domain",
      text: "See the file.",
      attachments: files,
    });
  /** Submits files to the route for returned messages; returns the body of the response. */
  async function submit(to: string, files: readonly TestFile[], query = "") {
    const built = await nodemailer
      .createTransport({ streamTransport: true, buffer: true })
      .sendMail({ from: "dmarc@receiver.example", to, subject: "Report domain", attachments: [...files] });
    const reply = await console.world.api("POST", `/api/inbound/message${query}`, {
      token: deps.inboundToken ?? "",
      raw: built.message as Buffer,
      headers: { "content-type": "message/rfc822" },
    });
    return reply.body as {
      kind: string;
      recorded: number;
      ignored: { reason: string; reason_text: string }[];
    };
  }
  const domain = (id: string) => ann.data<DomainView>("viewer", "domains.get", { id });
  const verify = (id: string) => ann.data("admin", "domains.verify", { id });
  return { console, hot, zone, ann, addDomain, reports, mail, submit, domain, verify };
}
