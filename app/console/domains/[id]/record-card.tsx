"use client";

import { ChevronRight, LoaderCircle } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { DomainRecordView, RecordCheckView } from "#server/trpc/domains/views";
import { MessageText } from "../../_ui/text/address";
import { Badge } from "../../_ui/text/badge";
import { CopyButton } from "../../_ui/text/copy-button";
import { When } from "../../_ui/text/when";
import { formatFault, PURPOSE, RECORD_STATUS } from "../labels";

type Props = { record: DomainRecordView; isVerifying: boolean; isOpen: boolean };

/** One record: its purpose, the values to enter, and the result of the last check. */
export function RecordCard({ record, isVerifying, isOpen: isInitiallyOpen }: Props) {
  const [isOpen, setOpen] = useState(isInitiallyOpen);
  const { purpose, type, status, check, required, keep_until: keepUntil, host } = record;
  const { title, why } = PURPOSE[purpose];
  const statusLabel = RECORD_STATUS[status];
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)} className="group">
        <Summary>
          <span className="min-w-0 flex-1 basis-48">
            <span className="font-medium">{title}</span>
            {required ? null : <span className="ml-2 text-soft text-xs">optional</span>}
            <span className="block truncate font-mono text-soft text-xs group-open:hidden">
              {type} {host}
            </span>
          </span>
          {isVerifying ? (
            <Badge tone="info">
              <LoaderCircle className="size-3 motion-safe:animate-spin" /> Checking
            </Badge>
          ) : (
            <Badge tone={toneOf(record)} title={statusLabel.description}>
              {check?.fault && status === "failed" ? formatFault(check.fault) : statusLabel.label}
            </Badge>
          )}
        </Summary>
        <div className="flex flex-col gap-4 px-4 pb-5 sm:pl-11">
          <p className="text-soft leading-6">
            {why}
            {keepUntil ? (
              <>
                {" "}
                You can remove it <When isDue at={keepUntil} />.
              </>
            ) : null}
          </p>
          <RecordFields record={record} of={title} />
          {check ? <CheckResult status={status} check={check} /> : null}
        </div>
      </details>
    </li>
  );
}

/** What a DNS provider's form asks for, each with a copy button. */
function RecordFields({ record, of }: { record: DomainRecordView; of: string }) {
  const { type, host, label, value, priority } = record;
  const fields = [
    ["Name", host],
    ...(label === "@" ? [] : [["Short name", label]]),
    ...(priority === undefined ? [] : [["Priority", String(priority)]]),
    ["Value", value],
  ];
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <p className="border-line border-b bg-sunk px-3 py-2 text-xs leading-5">
        <span className="text-soft">Type</span> <span className="font-medium">{type}</span>
      </p>
      <dl>
        {fields.map(([name = "", text = ""]) => (
          <div
            key={name}
            className="grid grid-cols-[5.5rem_minmax(0,1fr)_2rem] items-start gap-x-3 border-line border-b py-1 pr-1.5 pl-3 last:border-b-0"
          >
            <dt className="py-1.5 text-soft text-xs leading-5">{name}</dt>
            <dd className="break-all py-1.5 font-mono text-xs leading-5">{text}</dd>
            <dd>
              <CopyButton text={text} label={`Copy ${name}: ${of}`} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** A missing DMARC policy is a warning, because the record is optional. */
const toneOf = ({ status, required, purpose }: DomainRecordView) =>
  status === "failed" && !required && purpose === "dmarc" ? "warn" : RECORD_STATUS[status].tone;

/** A check of something that is no record of the setup, and its result. */
export const OtherCheck = (other: RecordCheckView) => (
  <li>
    <details className="group">
      <Summary>
        <span className="min-w-0 flex-1 basis-48 font-medium">{PURPOSE[other.purpose].title}</span>
        <Badge tone={other.check.fault ? "warn" : RECORD_STATUS[other.status].tone}>
          {other.check.fault ? formatFault(other.check.fault) : RECORD_STATUS[other.status].label}
        </Badge>
      </Summary>
      <div className="px-4 pb-5 sm:pl-11">
        <CheckResult status={other.status} check={other.check} />
      </div>
    </details>
  </li>
);

const Summary = ({ children }: { children: ReactNode }) => (
  <summary className="flex min-h-14 list-none items-center gap-x-3 gap-y-1.5 rounded-xl px-4 py-3 hover:bg-sunk max-sm:flex-wrap max-sm:[&>*:last-child]:ml-7 [&::-webkit-details-marker]:hidden">
    <ChevronRight className="size-4 shrink-0 text-soft group-open:rotate-90 motion-safe:transition-transform" />
    {children}
  </summary>
);

/** The DNS query, its answer, and how to correct the record. */
function CheckResult({ status, check }: Pick<RecordCheckView, "status" | "check">) {
  const { fault, advice, answers, asked_name, asked_type, resolver } = check;
  const isBad = fault !== null && status !== "pending";
  return (
    <div
      className={`flex flex-col gap-2 rounded-lg px-3.5 py-3 text-xs leading-5 ${isBad ? "bg-warn-tint text-warn" : "bg-sunk text-soft"}`}
    >
      {fault ? <p className="font-medium">{formatFault(fault)}</p> : null}
      {advice ? (
        <p className="break-words [overflow-wrap:anywhere]">
          <MessageText>{advice}</MessageText>
        </p>
      ) : null}
      <dl className="grid grid-cols-[4.5rem_minmax(0,1fr)] gap-x-3 gap-y-1">
        <dt>Query</dt>
        <dd className="break-all font-mono">
          {asked_type} {asked_name}
        </dd>
        <dt>Answer</dt>
        <dd className="flex flex-col gap-1 break-all font-mono">
          {answers.length === 0 ? <span className="font-sans">none</span> : null}
          {[...new Set(answers)].map((answer) => (
            <span key={answer}>{answer}</span>
          ))}
        </dd>
        <dt>Resolver</dt>
        <dd className="break-all font-mono">{resolver}</dd>
      </dl>
    </div>
  );
}
