"use client";

import { useQuery } from "@tanstack/react-query";
import type { EmailContent, EmailView } from "#server/trpc/emails/views";
import { faultOf } from "../../_ui/fault";
import { Tabs } from "../../_ui/page/tabs";
import { cardStyle } from "../../_ui/styles";
import { FaultNote } from "../../_ui/text/notes";
import { useTRPC } from "../../_ui/trpc";
import { HtmlPreview } from "./html-preview";
import { MessageFiles } from "./message-files";
import { MessageHeaders } from "./message-headers";
import { MessageSource } from "./message-source";

/** The content of the email in several views. It never changes, so it is fetched once. */
export function MessageTabs({ teamId, email }: { teamId: string; email: EmailView }) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.emails.content.queryOptions({ team: teamId, id: email.id }, { staleTime: Number.POSITIVE_INFINITY }),
  );
  if (!data) {
    return (
      <div className={`${cardStyle} h-[27rem] md:h-[43rem]`}>
        {error ? <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} /> : null}
      </div>
    );
  }
  const tabs = [
    ...(data.hasHtml
      ? [
          {
            value: "preview",
            label: "Preview",
            content: <HtmlPreview teamId={teamId} id={email.id} hasRemoteImages={data.hasRemoteImages} />,
          },
        ]
      : []),
    { value: "text", label: "Text", content: <MessageText content={data} /> },
    { value: "source", label: "Source", content: <MessageSource teamId={teamId} id={email.id} /> },
    { value: "headers", label: "Headers", content: <MessageHeaders email={email} /> },
    ...(email.files.length > 0
      ? [
          {
            value: "files",
            label: `Files (${email.files.length})`,
            content: <MessageFiles teamId={teamId} emailId={email.id} files={email.files} />,
          },
        ]
      : []),
  ];
  return <Tabs label="Message" tabs={tabs} className={`${cardStyle} w-full`} />;
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
