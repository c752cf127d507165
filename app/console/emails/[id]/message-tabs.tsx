"use client";

import { useQuery } from "@tanstack/react-query";
import { Download, Paperclip } from "lucide-react";
import type { EmailContent, EmailView, FileView } from "#server/trpc/emails/views";
import { Properties } from "../../_ui/page/facts";
import { Fetched } from "../../_ui/page/fetched";
import { type Tab, Tabs } from "../../_ui/page/tabs";
import { buttonStyle, cardStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { HtmlPreview } from "./html-preview";
import { MessageSource } from "./message-source";

/** The content of the email in several views. It never changes, so it is fetched once. */
export function MessageTabs({ teamId, email }: { teamId: string; email: EmailView }) {
  const trpc = useTRPC();
  const content = useQuery(
    trpc.emails.content.queryOptions({ team: teamId, id: email.id }, { staleTime: Number.POSITIVE_INFINITY }),
  );
  return (
    <Fetched by={content} loading={<div className={`${cardStyle} h-[27rem] md:h-[43rem]`} />}>
      {(data) => (
        <Tabs label="Message" tabs={tabsOf(teamId, email, data)} className={`${cardStyle} w-full`} />
      )}
    </Fetched>
  );
}

function tabsOf(teamId: string, email: EmailView, content: EmailContent): Tab[] {
  const { id, files } = email;
  const preview = <HtmlPreview teamId={teamId} id={id} hasRemoteImages={content.hasRemoteImages} />;
  const filesTab = {
    value: "files",
    label: `Files (${files.length})`,
    content: <MessageFiles teamId={teamId} emailId={id} files={files} />,
  };
  return [
    ...(content.hasHtml ? [{ value: "preview", label: "Preview", content: preview }] : []),
    { value: "text", label: "Text", content: <MessageText content={content} /> },
    { value: "source", label: "Source", content: <MessageSource teamId={teamId} id={id} /> },
    { value: "headers", label: "Headers", content: <MessageHeaders email={email} /> },
    ...(files.length > 0 ? [filesTab] : []),
  ];
}

function MessageText({ content }: { content: EmailContent }) {
  if (content.text === null && !content.hasHtml)
    return <p className="p-4 text-soft">The content of this email is no longer stored.</p>;
  if (content.text === null)
    return (
      <p className="p-4 text-soft">
        The sender provided no text part. It is generated from the HTML when the email is sent.
      </p>
    );
  if (content.text === "") return <p className="p-4 text-soft">The sender disabled the text part.</p>;
  return (
    <div className="p-4">
      <pre className="whitespace-pre-wrap break-words font-mono text-xs leading-5">{content.text}</pre>
      {content.isTextCut ? <p className="mt-4 text-soft">The text is truncated here.</p> : null}
    </div>
  );
}

/** The headers of the message, as submitted. */
const MessageHeaders = ({ email }: { email: EmailView }) => (
  <Properties
    entries={[
      ["From", email.from],
      ["To", email.to.join(", ")],
      ["Cc", email.cc.join(", ")],
      ["Bcc", email.bcc.join(", ")],
      ["Reply-To", email.reply_to.join(", ")],
      ["Subject", email.subject],
      ["Message-ID", email.message_id],
      ...Object.entries(email.headers),
    ]}
  />
);

type FilesProps = { teamId: string; emailId: string; files: FileView[] };

/** The attachments of the email, for download only. The console never displays their content. */
const MessageFiles = ({ teamId, emailId, files }: FilesProps) => (
  <ul className="divide-y divide-line">
    {files.map(({ id, filename, content_type, content_id, size }) => (
      <li key={id} className="flex items-center gap-3 px-4 py-3">
        <Paperclip className="size-4 shrink-0 text-soft" aria-hidden="true" />
        <div className="min-w-0 grow">
          <p className="wrap-anywhere font-medium">{filename ?? "Unnamed file"}</p>
          <p className="wrap-anywhere text-soft text-xs">
            {formatBytes(size)} · {content_type}
            {content_id ? ` · inline as cid:${content_id}` : ""}
          </p>
        </div>
        <a
          href={`/console/emails/${encodeURIComponent(emailId)}/files/${encodeURIComponent(id)}?team=${encodeURIComponent(teamId)}`}
          className={`${buttonStyle.quiet} h-8`}
        >
          <Download className="size-4" aria-hidden="true" />
          <span className="max-md:sr-only">Download</span>
          <span className="sr-only">{filename ?? "unnamed file"}</span>
        </a>
      </li>
    ))}
  </ul>
);

const UNITS = ["bytes", "KB", "MB"] as const;

function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1_000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`;
}
