"use client";

import { useQuery } from "@tanstack/react-query";
import { Fetched } from "../../_ui/page/fetched";
import { Section } from "../../_ui/page/section";
import { Tabs } from "../../_ui/page/tabs";
import { CodeBlock } from "../../_ui/text/code-block";
import { useTRPC } from "../../_ui/trpc";

/** How to verify the signature of a request, with sample code. */
export function Verify({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const query = useQuery(
    trpc.webhooks.snippets.queryOptions({ team: teamId }, { staleTime: Number.POSITIVE_INFINITY }),
  );
  return (
    <Section
      title="Verify signatures"
      note={
        <p className="max-w-prose">
          Requests are signed (Standard Webhooks). Verify the signature over the unmodified body, and reject
          requests that are older than five minutes. Respond with a 2xx status within 15 seconds. An event can
          arrive twice, with the same <code className="font-mono">webhook-id</code>.
        </p>
      }
    >
      <Fetched isBare by={query}>
        {(samples) => (
          <Tabs
            label="Sample code"
            className="border-line border-t"
            panelClassName="p-4"
            tabs={samples.map(({ id, label, language, fileName, text }) => ({
              value: id,
              label,
              content: <CodeBlock text={text} label={fileName} language={language} />,
            }))}
          />
        )}
      </Fetched>
    </Section>
  );
}
