"use client";

import type { ReactNode } from "react";
import type { AuditEntryView } from "#server/trpc/activity/activity";
import { Dialog } from "../_ui/dialog/dialog";
import { AddressText } from "../_ui/text/address";
import { CopyButton } from "../_ui/text/copy-button";
import { When } from "../_ui/text/when";
import { Actor, SubjectLink } from "./change-fields";

/** The details of one change. */
export function ChangeDetail({ change, onClose }: { change: AuditEntryView; onClose: () => void }) {
  const { words, action, subjectId, detail, requestId, createdAt } = change;
  return (
    <Dialog
      onOpenChange={onClose}
      title={words}
      description={<code className="font-mono text-xs">{action}</code>}
    >
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-6 gap-y-3">
        <Line name="Target">
          <SubjectLink change={change} />
        </Line>
        {subjectId ? (
          <Line name="Id">
            <CopyableText text={subjectId} label="Copy id" />
          </Line>
        ) : null}
        <Line name="Actor">
          <Actor change={change} />
        </Line>
        <Line name="Time">
          <When at={createdAt} />
        </Line>
        {linesOf(detail).map(({ name, now, before }) => (
          <Line key={name} name={name}>
            <span className="break-words">
              <AddressText>{now}</AddressText>
            </span>
            {before === undefined ? null : (
              <span className="text-soft">
                {" "}
                <AddressText>{`(before: ${before})`}</AddressText>
              </span>
            )}
          </Line>
        ))}
        <Line name="Request">
          <CopyableText text={requestId} label="Copy request id" />
        </Line>
      </dl>
    </Dialog>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-soft">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

function CopyableText({ text, label }: { text: string; label: string }) {
  return (
    <span className="flex min-w-0 items-center gap-1">
      <code className="min-w-0 truncate font-mono text-xs" title={text}>
        {text}
      </code>
      <CopyButton text={text} label={label} />
    </span>
  );
}

type Detail = AuditEntryView["detail"];

const formatValue = (value: Detail[string] | undefined): string => {
  if (value === null || value === undefined || value === "") return "none";
  if (value === true) return "yes";
  if (value === false) return "no";
  return Array.isArray(value) ? value.join(", ") || "none" : String(value);
};

/** The changed values, each with its previous value if the log has one. */
function linesOf(detail: Detail) {
  return Object.keys(detail)
    .filter((name) => !name.endsWith("_before"))
    .map((name) => {
      const words =
        name === "mails"
          ? "emails"
          : name
              .replace(/([A-Z])/g, "_$1")
              .toLowerCase()
              .replaceAll("_", " ");
      const before = `${name}_before` in detail ? formatValue(detail[`${name}_before`]) : undefined;
      return { name: words.charAt(0).toUpperCase() + words.slice(1), now: formatValue(detail[name]), before };
    });
}
