"use client";

import { Stethoscope } from "lucide-react";
import type { DoctorReport } from "#server/trpc/installation/installation";
import { Button } from "../../_ui/form/button";
import { Empty } from "../../_ui/list/empty";
import { SkeletonTable } from "../../_ui/list/skeleton";
import { Section } from "../../_ui/page/card";
import { MessageText } from "../../_ui/text/address";
import { Badge } from "../../_ui/text/badge";
import { FaultNote } from "../../_ui/text/notes";
import type { Tone } from "../../_ui/text/statuses";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

/** Runs the doctor and shows each result with what to do about it. */
export function DoctorPage() {
  const trpc = useTRPC();
  const { run, isBusy, fault, result } = useAction(trpc.installation.examine.mutationOptions());
  const start = () => run(undefined);
  return (
    <>
      <div className="mb-6 flex flex-wrap items-start justify-between gap-4">
        <p className="max-w-prose text-pretty text-soft leading-6">
          These checks test settings, database, disk, backups, secret, workers, relays, DNS, ports and
          proxies. They run on the web server, change nothing and send no email. To run them on the host of a
          worker, use <code>backstamp doctor</code>.
        </p>
        <Button
          tone="primary"
          Icon={Stethoscope}
          disabledReason={isBusy ? "The checks are running." : undefined}
          onClick={start}
        >
          Run checks
        </Button>
      </div>
      {fault ? <FaultNote fault={fault} onRetry={start} /> : null}
      {isBusy ? <SkeletonTable rows={8} /> : result ? <Report report={result} /> : <NoReport />}
    </>
  );
}

const NoReport = () => (
  <Empty icon={Stethoscope} title="Not checked">
    <p>The checks take up to 20 seconds.</p>
  </Empty>
);

const STATUSES: Record<DoctorReport["findings"][number]["status"], { label: string; tone: Tone }> = {
  error: { label: "Error", tone: "bad" },
  warning: { label: "Warning", tone: "warn" },
  ok: { label: "OK", tone: "good" },
  not_checked: { label: "Not checked", tone: "mute" },
};

const Report = ({ report: { at, findings } }: { report: DoctorReport }) => (
  <Section
    title="Results"
    note={
      <>
        Checked <When at={at} />. A report is shown for 30 seconds before the checks run again.
      </>
    }
  >
    <ul className="divide-y divide-line border-line border-t">
      {findings.map(({ check, subject, status, message, advice }) => (
        <li key={`${check} ${subject} ${message}`} className="flex flex-col gap-1 px-5 py-3">
          <div className="flex items-center justify-between gap-3">
            <span className="min-w-0 break-words font-medium">
              {nameOf(check)}
              {subject === null ? null : <span className="font-normal text-soft">, {subject}</span>}
            </span>
            <Badge tone={STATUSES[status].tone}>{STATUSES[status].label}</Badge>
          </div>
          <p className="break-words">
            <MessageText>{message}</MessageText>
          </p>
          {advice === null ? null : (
            <p className="break-words text-soft">
              <MessageText>{advice}</MessageText>
            </p>
          )}
        </li>
      ))}
    </ul>
  </Section>
);

const NAMES: Partial<Record<DoctorReport["findings"][number]["check"], string>> = {
  smtp: "SMTP",
  dns: "DNS servers",
  reverse_dns: "Reverse DNS",
};
const nameOf = (check: keyof typeof NAMES): string =>
  NAMES[check] ?? `${check.charAt(0).toUpperCase()}${check.slice(1)}`;
