"use client";

import { useQuery } from "@tanstack/react-query";
import { CodeBlock } from "../../_ui/code-block";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/notes";
import { Section } from "../../_ui/section";
import { Tabs } from "../../_ui/tabs";
import { useTRPC } from "../../_ui/trpc";

/** How a program tells that a call is ours, with receivers to copy. */
export function Verify({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.webhooks.snippets.queryOptions({ team: teamId }, { staleTime: Number.POSITIVE_INFINITY }),
  );
  return (
    <Section
      title="Check that a call is ours"
      note={
        <p className="max-w-prose">
          Anybody can call your address. Ours are signed (Standard Webhooks): check the signature over the
          body exactly as it came, and refuse what is older than five minutes. Answer with a 2xx within 15
          seconds. A call may come twice, with the same <code className="font-mono">webhook-id</code>.
        </p>
      }
    >
      {data ? (
        <Tabs
          label="Receivers"
          className="border-line border-t"
          panelClassName="p-4"
          tabs={data.map(({ id, label, language, fileName, text }) => ({
            value: id,
            label,
            content: <CodeBlock text={text} label={fileName} language={language} />,
          }))}
        />
      ) : error ? (
        <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
      ) : null}
    </Section>
  );
}
