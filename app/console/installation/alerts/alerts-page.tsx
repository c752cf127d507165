"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import type { AlertRow } from "#server/trpc/installation/alerts";
import { type Column, DataTable, OneLine, timeColumn } from "../../_ui/list/data-table";
import { Empty } from "../../_ui/list/empty";
import { SkeletonTable } from "../../_ui/list/skeleton";
import { Part } from "../../_ui/page/card";
import { Fetched } from "../../_ui/page/fetched";
import { MessageText } from "../../_ui/text/address";
import { Badge } from "../../_ui/text/badge";
import { useTRPC } from "../../_ui/trpc";
import { Thresholds } from "./thresholds";

const refetchMs = 15_000;

/** The open and the recent alerts of the installation and of all teams, and the limits behind them. */
export function AlertsPage() {
  const trpc = useTRPC();
  const alerts = useQuery(trpc.alerts.list.queryOptions(undefined, { refetchInterval: refetchMs }));
  return (
    <Fetched by={alerts} loading={<SkeletonTable rows={4} />}>
      {({ open, resolved, thresholds, webhookHost }) => (
        <div className="flex flex-col gap-8">
          <Part title="Open alerts">
            <DataTable
              label="Open alerts"
              columns={OPEN}
              rows={open}
              empty={
                <Empty icon={CircleCheck} title="No open alerts">
                  <p>
                    Workers check rates, queues, relays and backups every minute. Operators receive new alerts
                    by email.
                  </p>
                </Empty>
              }
            />
          </Part>
          {resolved.length > 0 ? (
            <Part title="Resolved in the last 30 days">
              <DataTable label="Resolved alerts" columns={RESOLVED} rows={resolved} />
            </Part>
          ) : null}
          <Thresholds thresholds={thresholds} webhookHost={webhookHost} />
        </div>
      )}
    </Fetched>
  );
}

const ALERT: Column<AlertRow> = {
  header: "Alert",
  cell: ({ title, message, toDo, resolvedAt }) => (
    <div className="flex flex-col gap-1 py-1 whitespace-normal">
      <span className="font-medium">{title}</span>
      <span className="break-words text-soft">
        <MessageText>{message}</MessageText>
      </span>
      {resolvedAt === null ? (
        <span className="break-words text-soft">
          <MessageText>{toDo}</MessageText>
        </span>
      ) : null}
    </div>
  ),
};
const SCOPE: Column<AlertRow> = {
  header: "Scope",
  width: "w-40",
  cell: ({ teamName }) => <OneLine>{teamName === null ? "Installation" : `Team ${teamName}`}</OneLine>,
};
const OPENED = timeColumn<AlertRow>("Opened", ({ openedAt }) => openedAt);

const OPEN: readonly Column<AlertRow>[] = [
  ALERT,
  SCOPE,
  OPENED,
  {
    header: "Severity",
    width: "w-28",
    phone: "corner",
    cell: ({ severity }) => (
      <Badge tone={severity === "critical" ? "bad" : "warn"}>
        {severity === "critical" ? "Critical" : "Warning"}
      </Badge>
    ),
  },
];

const RESOLVED: readonly Column<AlertRow>[] = [
  ALERT,
  SCOPE,
  OPENED,
  timeColumn("Resolved", ({ resolvedAt }) => resolvedAt),
];
