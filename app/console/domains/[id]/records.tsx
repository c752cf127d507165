"use client";

import type { ReactNode } from "react";
import type { DnsPanel } from "#server/mail/dns-panels";
import type { DomainView } from "#server/trpc/domain-views";
import { SelectField } from "../../_ui/form";
import { cardStyle } from "../../_ui/styles";
import { isPanel } from "./panel";
import { CheckResult, RecordCard } from "./record-card";
import { ZoneFile } from "./zone-file";

type Props = {
  domain: DomainView;
  isLooking: boolean;
  /** Stands at the end of the way while the domain is not verified. */
  verifyButton: ReactNode;
  onPanel: (panel: DnsPanel) => void;
  onOwnZone: (isOwn: boolean) => void;
};

/** The way to a verified domain in three steps; once it is there, the records alone. */
export function Records({ domain, isLooking, verifyButton, onPanel, onOwnZone }: Props) {
  const isGuide = verifyButton !== null;
  const { records, alsoChecked, notes } = domain;
  const required = records.filter(({ isRequired }) => isRequired);
  const inOrder = required.filter(({ status }) => status === "verified").length;
  return (
    <section aria-label="DNS records" className="flex flex-col gap-6">
      <Step number={isGuide ? 1 : null} title={isGuide ? "Choose your DNS provider" : "DNS records"}>
        <Place domain={domain} onPanel={onPanel} onOwnZone={onOwnZone} />
      </Step>
      <Step
        number={isGuide ? 2 : null}
        title={isGuide ? "Publish these records there" : null}
        aside={isGuide ? `${inOrder} of ${required.length} required ones in order` : null}
      >
        <ul aria-label="Records" className={`${cardStyle} divide-y divide-line`}>
          {records.map((record) => (
            <RecordCard
              key={`${record.host} ${record.type}`}
              record={record}
              isLooking={isLooking}
              isOpen={record.status !== "verified"}
            />
          ))}
        </ul>
        {notes.length > 0 ? (
          <ul className="mt-4 flex flex-col gap-2 text-soft leading-6">
            {notes.map(({ about, text }) => (
              <li key={about} className="break-words">
                <span className="font-medium text-ink">{about}:</span> {text}
              </li>
            ))}
          </ul>
        ) : null}
        {alsoChecked.length > 0 ? (
          <div className="mt-6">
            <h3 className="mb-2 font-medium">Also seen</h3>
            <ul aria-label="Also seen" className={`${cardStyle} divide-y divide-line`}>
              {alsoChecked.map((check) => (
                <li key={`${check.key} ${check.askedName}`} className="p-4">
                  <CheckResult check={check} isTitled />
                </li>
              ))}
            </ul>
          </div>
        ) : null}
        <ZoneFile name={domain.name} text={domain.zoneFile} />
      </Step>
      {isGuide ? (
        <Step number={3} title="Have them looked at">
          <div className={`${cardStyle} flex flex-wrap items-center justify-between gap-4 p-4`}>
            <p className="max-w-prose text-soft leading-6">
              DNS may take some minutes to show what you saved, at times hours. After the first look it is
              looked at by itself, each minute at first, and this page tells when all is in order.
            </p>
            {verifyButton}
          </div>
        </Step>
      ) : null}
    </section>
  );
}

type StepProps = { number: number | null; title: string | null; aside?: string | null; children: ReactNode };

function Step({ number, title, aside, children }: StepProps) {
  return (
    <div>
      {title === null ? null : (
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
      )}
      {children}
    </div>
  );
}

type PlaceProps = Pick<Props, "domain" | "onPanel" | "onOwnZone">;

/** With which provider the zone is edited, and where the domain's zone begins there. */
function Place({ domain: { panel, panels, zones }, onPanel, onOwnZone }: PlaceProps) {
  return (
    <div className={`${cardStyle} flex flex-col gap-4 p-4`}>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="DNS provider"
          value={panel.name}
          onChange={({ target: { value } }) => {
            if (isPanel(value)) onPanel(value);
          }}
        >
          {panels.map(({ name, title }) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </SelectField>
        {zones.above !== zones.own ? (
          <SelectField
            label="Zone that you edit there"
            value={zones.isOwn ? "own" : "above"}
            onChange={({ target }) => onOwnZone(target.value === "own")}
          >
            <option value="above">{zones.above}</option>
            <option value="own">{zones.own}</option>
          </SelectField>
        ) : null}
      </div>
      <p className="text-soft leading-6">
        <span className="text-ink">{panel.way}</span>. Below stands what to type into that form.{" "}
        {panel.textHint}
      </p>
    </div>
  );
}
