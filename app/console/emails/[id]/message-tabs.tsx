"use client";

import { useQuery } from "@tanstack/react-query";
import { Tabs } from "radix-ui";
import type { EmailContent, EmailView } from "#server/trpc/email-views";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/notes";
import { cardStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { HtmlPreview } from "./html-preview";
import { MessageHeaders } from "./message-headers";

const tabStyle =
  "h-11 border-transparent border-b-2 px-1 font-medium text-soft hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink focus-visible:-outline-offset-2";

/** What the mail says, three ways. Its content never changes, so it is asked for once. */
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
  return (
    <Tabs.Root defaultValue={data.hasHtml ? "preview" : "text"} className={`${cardStyle} min-w-0 self-start`}>
      <Tabs.List aria-label="Message" className="flex gap-5 border-line border-b px-4">
        {data.hasHtml ? (
          <Tabs.Trigger value="preview" className={tabStyle}>
            Preview
          </Tabs.Trigger>
        ) : null}
        <Tabs.Trigger value="text" className={tabStyle}>
          Text
        </Tabs.Trigger>
        <Tabs.Trigger value="headers" className={tabStyle}>
          Headers
        </Tabs.Trigger>
      </Tabs.List>
      {data.hasHtml ? (
        <Tabs.Content value="preview" tabIndex={-1}>
          <HtmlPreview teamId={teamId} id={email.id} hasRemoteImages={data.hasRemoteImages} />
        </Tabs.Content>
      ) : null}
      <Tabs.Content value="text">
        <MessageText content={data} />
      </Tabs.Content>
      <Tabs.Content value="headers">
        <MessageHeaders email={email} />
      </Tabs.Content>
    </Tabs.Root>
  );
}

function MessageText({ content }: { content: EmailContent }) {
  if (content.text === null)
    return <p className="p-4 text-soft">None was given. It is made from the HTML when the mail goes out.</p>;
  if (content.text === "") return <p className="p-4 text-soft">The sender wanted no text part.</p>;
  return (
    <div className="p-4">
      <pre className="whitespace-pre-wrap break-words font-mono text-xs leading-5">{content.text}</pre>
      {content.isTextCut ? <p className="mt-4 text-soft">The rest is too long to be shown here.</p> : null}
    </div>
  );
}
