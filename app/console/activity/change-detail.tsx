"use client";

import { Fragment, type ReactNode } from "react";
import type { AuditEntryView } from "#server/trpc/activity/activity";
import { Dialog } from "../_ui/dialog/dialog";
import { Properties } from "../_ui/page/facts";
import { cardStyle } from "../_ui/styles";
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
      <div className={cardStyle}>
        <Properties
          entries={[
            ["Target", <SubjectLink key="target" change={change} />],
            ["Id", subjectId && <CopyableText text={subjectId} label="Copy id" />],
            ["Actor", <Actor key="actor" change={change} />],
            ["Time", <When key="time" at={createdAt} />],
            ...linesOf(detail),
            ["Request", <CopyableText key="request" text={requestId} label="Copy request id" />],
          ]}
        />
      </div>
    </Dialog>
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
function linesOf(detail: Detail): [string, ReactNode][] {
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
      const now = formatValue(detail[name]);
      const before = `${name}_before`;
      return [
        words.charAt(0).toUpperCase() + words.slice(1),
        before in detail ? (
          <Fragment key={name}>
            <AddressText>{now}</AddressText>{" "}
            <span className="text-soft">
              <AddressText>{`(before: ${formatValue(detail[before])})`}</AddressText>
            </span>
          </Fragment>
        ) : (
          now
        ),
      ];
    });
}
