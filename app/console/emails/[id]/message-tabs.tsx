"use client";

import { useQuery } from "@tanstack/react-query";
import { Download, ImageOff, Paperclip } from "lucide-react";
import { useState } from "react";
import type { EmailContent, EmailView, FileView } from "#server/trpc/emails/views";
import { Button } from "../../_ui/form/button";
import { type Width, WidthToggle } from "../../_ui/form/width-toggle";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Properties } from "../../_ui/page/facts";
import { Fetched } from "../../_ui/page/fetched";
import { type Tab, Tabs } from "../../_ui/page/tabs";
import { buttonStyle, cardStyle } from "../../_ui/styles";
import { CopyButton } from "../../_ui/text/copy-button";
import { useTRPC } from "../../_ui/trpc";

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
    { value: "text", label: "Text", content: <MessagePlainText content={content} /> },
    { value: "source", label: "Source", content: <MessageSource teamId={teamId} id={id} /> },
    { value: "headers", label: "Headers", content: <MessageHeaders email={email} /> },
    ...(files.length > 0 ? [filesTab] : []),
  ];
}

function MessagePlainText({ content }: { content: EmailContent }) {
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
        <Paperclip className="size-4 shrink-0 text-soft" />
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
          <Download className="size-4" />
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

const WIDTHS: Record<Width, string> = { desktop: "100%", mobile: "375px" };

type Props = { teamId: string; id: string; hasRemoteImages: boolean };

/**
 * The message in a sandboxed document without scripts, forms or access to this page. Its images are on other
 * hosts, which would learn that the email was viewed, so they load only on request.
 */
function HtmlPreview({ teamId, id, hasRemoteImages }: Props) {
  const [width, setWidth] = useState<Width>("desktop");
  const [showsImages, setShowsImages] = useState(false);
  const query = new URLSearchParams({ team: teamId, ...(showsImages ? { images: "1" } : {}) });
  return (
    <>
      <div className="flex min-h-12 flex-wrap items-center gap-2 border-line border-b px-3 py-2">
        <WidthToggle value={width} onChange={setWidth} />
        {hasRemoteImages && !showsImages ? (
          <Button
            tone="quiet"
            isSmall
            Icon={ImageOff}
            onClick={() => setShowsImages(true)}
            className="ml-auto"
            title="Images load from other hosts, which can record the view"
          >
            Load images
          </Button>
        ) : null}
      </div>
      <div className="flex justify-center overflow-hidden rounded-b-xl bg-sunk">
        <iframe
          // In the same frame, the document with images would be an entry of the browser's history.
          key={String(showsImages)}
          title="Message preview"
          sandbox=""
          referrerPolicy="no-referrer"
          src={`/console/emails/${encodeURIComponent(id)}/body?${query}`}
          style={{ width: WIDTHS[width], colorScheme: "light" }}
          className="h-[24rem] max-w-full bg-white md:h-[40rem]"
        />
      </div>
    </>
  );
}

const sourceCharsMax = 200_000;

/** The URL of the message as an .eml file. */
export const sourceHref = (teamId: string, id: string): string =>
  `/console/emails/${encodeURIComponent(id)}/source?team=${encodeURIComponent(teamId)}`;

/** The raw MIME source of the message, fetched when the tab is opened. */
function MessageSource({ teamId, id }: { teamId: string; id: string }) {
  const href = sourceHref(teamId, id);
  const query = useQuery({
    queryKey: ["source", href],
    queryFn: ({ signal }) => fetchSource(href, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <Fetched isBare by={query} loading={<SkeletonCard lines={6} />}>
      {(source) => (
        <>
          <div className="flex min-h-12 flex-wrap items-center gap-2 border-line border-b px-4 py-2">
            <p className="mr-auto text-soft text-xs">
              Raw MIME source. It includes the DKIM signature only if one is stored.
            </p>
            <CopyButton text={source.slice(0, sourceCharsMax)} label="Copy source" />
            <a href={href} className={`${buttonStyle.quiet} h-8`}>
              <Download className="size-4" /> .eml
            </a>
          </div>
          <pre className="max-h-[40rem] overflow-auto whitespace-pre-wrap p-4 font-mono text-xs leading-5 [overflow-wrap:anywhere]">
            {source.slice(0, sourceCharsMax)}
          </pre>
          {source.length > sourceCharsMax ? (
            <p className="px-4 pb-4 text-soft">
              The source is truncated here. Download the .eml file to see all of it.
            </p>
          ) : null}
        </>
      )}
    </Fetched>
  );
}

async function fetchSource(href: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(href, { signal });
  if (!response.ok) throw await readError(response);
  return response.text();
}

/**
 * Converts an error response to the shape that `faultOf` reads. A reverse proxy may respond without a JSON
 * body.
 */
async function readError(response: Response): Promise<Error> {
  const body = (await response.json().catch(() => null)) as ErrorBody | null;
  const { message = `The service responded with status ${response.status}.`, data = {} } = body?.error ?? {};
  return Object.assign(new Error(message), { data });
}

type ErrorBody = { error?: { message?: string; data?: { code: string; requestId: string } } };
