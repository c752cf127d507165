"use client";

import { useQuery } from "@tanstack/react-query";
import { MessageSquareReply } from "lucide-react";
import type { ReplyRuleRow } from "#server/trpc/installation/installation";
import { type Column, DataTable, OneLine } from "../../_ui/list/data-table";
import { Empty } from "../../_ui/list/empty";
import { SkeletonTable } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { Badge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";

/** The rules that the operator added for replies of mail servers. The command line changes them. */
export function ReplyRuleList() {
  const trpc = useTRPC();
  const list = useQuery(trpc.installation.replyRules.queryOptions());
  return (
    <>
      <p className="mb-4 max-w-prose text-pretty text-soft leading-6">
        Your rules for the replies of mail servers. They precede the built-in rules, and the first one that
        matches decides. Only your rules bounce email after a temporary reply.
      </p>
      <Fetched by={list} loading={<SkeletonTable />}>
        {({ rows }) => (
          <DataTable
            label="Reply rules"
            columns={COLUMNS}
            rows={rows}
            empty={
              <Empty icon={MessageSquareReply} title="No rules">
                <p>
                  Add one on the command line:{" "}
                  <code className="font-mono text-xs">
                    backstamp reply set closed{" "}
                    <span className="whitespace-nowrap">--pattern "550*closed"</span>{" "}
                    <span className="whitespace-nowrap">--class hard</span>{" "}
                    <span className="whitespace-nowrap">--action suppress</span>
                  </code>
                </p>
              </Empty>
            }
          />
        )}
      </Fetched>
    </>
  );
}

const ACTIONS: Record<ReplyRuleRow["action"], string> = {
  keep: "Keep",
  defer: "Defer",
  bounce: "Bounce",
  suppress: "Bounce and suppress",
};

const COLUMNS: readonly Column<ReplyRuleRow>[] = [
  {
    header: "Rule",
    isWhole: true,
    cell: ({ name, pattern }) => (
      <>
        <OneLine>{name}</OneLine>
        <OneLine className="font-mono font-normal text-soft text-xs">{pattern}</OneLine>
      </>
    ),
  },
  { header: "Destination", cell: ({ destination }) => destination ?? <span className="text-soft">All</span> },
  { header: "Class", width: "w-28", cell: (rule) => rule.class },
  { header: "Action", width: "w-44", cell: ({ action }) => ACTIONS[action] },
  {
    header: "Expiry",
    width: "w-36",
    cell: ({ expiresAt, isExpired }) =>
      expiresAt === null ? (
        <span className="text-soft">No expiry</span>
      ) : isExpired ? (
        <Badge tone="mute">Expired</Badge>
      ) : (
        <When at={expiresAt} />
      ),
  },
];
