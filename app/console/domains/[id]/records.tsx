"use client";

import { ChevronRight, Download } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import type { DomainRecordView, DomainView } from "#server/trpc/domains/views";
import { Button } from "../../_ui/form/button";
import { download } from "../../_ui/form/download";
import { cardStyle } from "../../_ui/styles";
import { MessageText } from "../../_ui/text/address";
import { CodeBlock } from "../../_ui/text/code-block";
import { OtherCheck, RecordCard } from "./record-card";

type Props = {
  domain: DomainView;
  isVerifying: boolean;
  /** Shown as the last step until the domain is verified; then null. */
  verifyButton: ReactNode;
};

const isFaulty = ({ status }: DomainRecordView) => status !== "verified";

/** The parts of the list of records after a check: what must be corrected is at its beginning. */
const PARTS: { title: string; has: (record: DomainRecordView) => boolean }[] = [
  { title: "Correct first", has: (record) => isFaulty(record) && record.required },
  { title: "Optional", has: (record) => isFaulty(record) && !record.required },
  { title: "Verified", has: (record) => !isFaulty(record) },
];

const faultOf = ({ status, check }: DomainRecordView) => check?.fault ?? status;

/** The records in parts, those with the same fault together. Before the first check there is one part. */
function partsOf({
  records,
  last_checked_at,
}: DomainView): { title: string | null; records: DomainRecordView[] }[] {
  if (last_checked_at === null) return [{ title: null, records }];
  const sorted = [...records].sort((one, other) => faultOf(one).localeCompare(faultOf(other)));
  return PARTS.map(({ title, has }) => ({ title, records: sorted.filter(has) })).filter(
    ({ records }) => records.length > 0,
  );
}

/** The setup guide in two steps until the domain is verified; then the records only. */
export function Records({ domain, isVerifying, verifyButton }: Props) {
  const isGuide = verifyButton !== null;
  const { records, also_checked: otherChecks, notes } = domain;
  const required = records.filter(({ required }) => required);
  const verified = required.filter((record) => !isFaulty(record)).length;
  const parts = partsOf(domain);
  const isChecked = domain.last_checked_at !== null;
  return (
    <section aria-label="DNS records" className="flex flex-col gap-6">
      <Step
        number={isGuide ? 1 : null}
        title={isGuide ? "Publish these records" : "DNS records"}
        aside={
          verified < required.length ? `${verified} of ${required.length} required records verified` : null
        }
      >
        <p className="mb-4 text-soft leading-6">
          Add them in the DNS settings of <code>{domain.zone}</code>. Where the form appends {domain.zone} to
          the name, enter the short name. Most forms split long values and add quotation marks themselves.
        </p>
        <ul aria-label="Records" className={`${cardStyle} divide-y divide-line`}>
          {parts.map(({ title, records }, part) => (
            <Fragment key={title}>
              {title === null ? null : (
                <li className="bg-sunk px-4 py-2 text-soft text-xs first:rounded-t-xl">
                  <h3>{title}</h3>
                </li>
              )}
              {records.map((record, place) => (
                <RecordCard
                  key={`${record.host} ${record.type}`}
                  record={record}
                  isVerifying={isVerifying}
                  // After a check, only the record to correct first, so that the page stays short.
                  isOpen={isFaulty(record) && (!isChecked || (part === 0 && place === 0))}
                />
              ))}
            </Fragment>
          ))}
        </ul>
        {notes.length > 0 ? (
          <ul className="mt-4 flex flex-col gap-2 text-soft leading-6">
            {notes.map(({ about, text }) => (
              <li key={about} className="break-words">
                <span className="font-medium text-ink">{about}:</span> <MessageText>{text}</MessageText>
              </li>
            ))}
          </ul>
        ) : null}
        {otherChecks.length > 0 ? (
          <div className="mt-6">
            <h3 className="mb-2 font-medium">Other checks</h3>
            <ul aria-label="Other checks" className={`${cardStyle} divide-y divide-line`}>
              {otherChecks.map((other) => (
                <OtherCheck key={`${other.purpose} ${other.check.asked_name}`} {...other} />
              ))}
            </ul>
          </div>
        ) : null}
        <ZoneFile name={domain.name} text={domain.zoneFile} />
      </Step>
      {isGuide ? (
        <Step number={2} title="Verify records">
          <div className={`${cardStyle} flex flex-wrap items-center justify-between gap-4 p-4`}>
            <p className="max-w-prose text-soft leading-6">
              DNS changes can take minutes, sometimes hours, to become visible. After the first check, the
              records are checked automatically, every minute at first. This page updates when they are
              verified.
            </p>
            {verifyButton}
          </div>
        </Step>
      ) : null}
    </section>
  );
}

type StepProps = { number: number | null; title: string; aside?: string | null; children: ReactNode };

function Step({ number, title, aside, children }: StepProps) {
  return (
    <div>
      <div className="mb-3 flex flex-wrap items-center gap-x-3 gap-y-1">
        {number === null ? null : (
          <span
            aria-hidden="true"
            className="grid size-6 place-items-center rounded-full bg-mute-tint font-semibold text-mute text-xs"
          >
            {number}
          </span>
        )}
        <h2 className="font-semibold text-base">{title}</h2>
        {aside ? <span className="ml-auto text-soft text-xs">{aside}</span> : null}
      </div>
      {children}
    </div>
  );
}

/** All records as a BIND zone file, for import or for your own name servers. */
function ZoneFile({ name, text }: { name: string; text: string }) {
  const fileName = `${name}.zone`;
  return (
    <details className="group mt-4">
      <summary className="flex min-h-9 w-fit list-none items-center gap-2 rounded text-soft hover:text-ink max-md:min-h-11 [&::-webkit-details-marker]:hidden">
        <ChevronRight className="size-4 group-open:rotate-90 motion-safe:transition-transform" />
        All records as a zone file
      </summary>
      <div className="mt-2 flex flex-col items-start gap-3">
        <div className="w-full min-w-0">
          <CodeBlock text={text} label={fileName} language="BIND" />
        </div>
        <Button
          isSmall
          Icon={Download}
          onClick={() => download(new Blob([text], { type: "text/plain" }), fileName)}
        >
          Download
        </Button>
      </div>
    </details>
  );
}
