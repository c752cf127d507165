"use client";

import { useQuery } from "@tanstack/react-query";
import { formatShare } from "#server/shared/text/share";
import type { DomainView } from "#server/trpc/domains/views";
import { formatNumber } from "../../../_ui/format-number";
import { type Column, DataTable } from "../../../_ui/list/data-table";
import { Part } from "../../../_ui/page/card";
import { Named } from "../../../_ui/page/facts";
import { Fetched } from "../../../_ui/page/fetched";
import { cardStyle } from "../../../_ui/styles";
import { MessageText } from "../../../_ui/text/address";
import { Badge } from "../../../_ui/text/badge";
import { CodeBlock } from "../../../_ui/text/code-block";
import { When } from "../../../_ui/text/when";
import { useTRPC } from "../../../_ui/trpc";

const staleMs = 60_000;

type Reports = NonNullable<ReturnType<typeof useReports>["data"]>;
type Source = Reports["sources"][number];
type Failure = Reports["tls"]["failures"][number];

function useReports(teamId: string, id: string) {
  const trpc = useTRPC();
  return useQuery(trpc.domains.reports.queryOptions({ team: teamId, id }, { staleTime: staleMs }));
}

/** What receivers report about email from the domain, and the DMARC record to publish next. */
export function ReportsPart({ teamId, domain }: { teamId: string; domain: DomainView }) {
  const reports = useReports(teamId, domain.id);
  return (
    <Part title="What others report">
      <Fetched by={reports}>{(data) => <Findings domain={domain} reports={data} />}</Fetched>
    </Part>
  );
}

function Findings({ domain, reports }: { domain: DomainView; reports: Reports }) {
  const { address, shares, sources, tls, last, next } = reports;
  return (
    <div className="flex flex-col gap-4">
      {shares.total === 0 ? null : <Summary name={domain.name} shares={shares} />}
      {sources.length > 0 ? (
        <DataTable
          label="Other sources"
          columns={SOURCES}
          rows={sources.map((source) => ({ ...source, id: source.source }))}
        />
      ) : null}
      {tls.sessions > 0 ? (
        <p className="leading-6">
          TLS: {formatNumber(tls.failed)} of {formatNumber(tls.sessions)} sessions to the mail servers of{" "}
          {domain.name} failed.
        </p>
      ) : null}
      {tls.failures.length > 0 ? (
        <DataTable
          label="TLS failures"
          columns={FAILURES}
          rows={tls.failures.map((failure) => ({ ...failure, id: `${failure.type} ${failure.host}` }))}
        />
      ) : null}
      <p className="max-w-prose text-soft leading-6">
        {last ? (
          <>
            Last report: {last.kind === "dmarc" ? "DMARC" : "TLS"}, from {last.reporter},{" "}
            <When at={last.at} />. The figures are of the last 30 days. Anyone can send a report, so they are
            not proved.
          </>
        ) : address ? (
          "No report was received in the last 35 days. Receivers send them once a day, to the address in the records below."
        ) : (
          "This installation receives no reports. The operator sets BACKSTAMP_HOSTNAME and BACKSTAMP_INBOUND_PORT."
        )}
      </p>
      {address || shares.total > 0 ? <NextRecord next={next} /> : null}
      <Addresses {...reports} />
    </div>
  );
}

function Summary({ name, shares }: { name: string; shares: Reports["shares"] }) {
  const { total, ours, oursUnaligned, others, othersUnaligned } = shares;
  const entries = [
    ["Ours, aligned", ours],
    ["Ours, not aligned", oursUnaligned],
    ["Others, aligned", others],
    ["Others, not aligned", othersUnaligned],
  ] as const;
  return (
    <div className={`${cardStyle} p-4`}>
      <p className="mb-3 leading-6">
        {formatShare(ours / total)} of {formatNumber(total)} messages that claim to be from {name} are ours
        and aligned.
      </p>
      <dl className="grid grid-cols-2 gap-3 leading-6 tabular-nums sm:grid-cols-4">
        {entries.map(([label, messages]) => (
          <Named key={label} name={label}>
            {formatShare(messages / total)}{" "}
            <span className="text-soft text-xs">{formatNumber(messages)}</span>
          </Named>
        ))}
      </dl>
    </div>
  );
}

const SOURCES: readonly Column<Source & { id: string }>[] = [
  {
    header: "Source",
    cell: ({ source, domains }) => (
      <>
        <span className="wrap-anywhere block font-mono text-xs">{source || "Further sources"}</span>
        <span className="wrap-anywhere block text-soft text-xs">
          {domains.length > 0 ? `authenticated as ${domains.join(", ")}` : "not authenticated"}
        </span>
      </>
    ),
    isWhole: true,
  },
  { header: "Messages", width: "w-28", align: "right", cell: ({ messages }) => formatNumber(messages) },
  {
    header: "Not aligned",
    width: "w-32",
    cell: ({ unaligned }) =>
      unaligned > 0 ? <Badge tone="warn">{formatNumber(unaligned)}</Badge> : <Badge tone="good">None</Badge>,
  },
  { header: "Last day", width: "w-32", cell: ({ lastDay }) => lastDay },
];

const FAILURES: readonly Column<Failure & { id: string }>[] = [
  { header: "Failure", cell: ({ type }) => type || "other", isWhole: true },
  { header: "MX host", cell: ({ host }) => host || "not stated", isWhole: true },
  { header: "Sessions", width: "w-28", align: "right", cell: ({ sessions }) => formatNumber(sessions) },
];

function NextRecord({ next: { host, record, reason } }: Pick<Reports, "next">) {
  return (
    <div className="flex flex-col gap-2">
      <p className="max-w-prose leading-6">
        <MessageText>{reason}</MessageText>
      </p>
      {record ? <CodeBlock text={record} label={`TXT ${host}`} /> : null}
    </div>
  );
}

/** The record for reports about TLS, and what the address of reports requires. */
function Addresses({ tlsRecord, consentHost, isMxMissing }: Reports) {
  if (!tlsRecord) return null;
  return (
    <div className="flex flex-col gap-2">
      <p className="max-w-prose leading-6">
        With this record, senders also report whether their connections to your mail servers are encrypted
        (RFC 8460).
        {isMxMissing ? " Reports arrive once the MX record above is found." : null}
      </p>
      <CodeBlock text={tlsRecord.value} label={`TXT ${tlsRecord.host}`} />
      {consentHost ? (
        <>
          <p className="max-w-prose leading-6">
            The address of the reports is at another domain. Receivers send them only if the operator of this
            installation publishes this record.
          </p>
          <CodeBlock text="v=DMARC1;" label={`TXT ${consentHost}`} />
        </>
      ) : null}
    </div>
  );
}
