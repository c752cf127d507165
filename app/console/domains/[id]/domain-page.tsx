"use client";

import { useQuery } from "@tanstack/react-query";
import { LoaderCircle, Radar, Trash2 } from "lucide-react";
import { Suspense, useState } from "react";
import type { DomainView } from "#server/trpc/domains/views";
import { Menu } from "../../_ui/dialog/menu";
import { Button } from "../../_ui/form/button";
import { CopiesSection } from "../../_ui/form/copies-form";
import { Fetched } from "../../_ui/page/fetched";
import { lazyDialog, lazyPart } from "../../_ui/page/lazy-part";
import { PageHeading } from "../../_ui/page/page-heading";
import { useDisabledReason } from "../../_ui/page/permission";
import { useConsoleHref } from "../../_ui/team";
import { LabelBadge } from "../../_ui/text/badge";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { HEALTH, refetchMs } from "../labels";
import { Banner, Banners, BuiltInNote } from "./banners";
import { AlignmentCard, type CardProps, UsersCard } from "./cards";
import { KeysCard } from "./keys-card";
import { LimitsCard } from "./limits-card";
import DomainLoading from "./loading";
import { MetricsCard } from "./metrics-card";
import { Records } from "./records";
import { SettingsCard } from "./settings-card";

const ReportsPart = lazyPart(async () => (await import("./reports/reports-part")).ReportsPart);
const RemoveDomain = lazyDialog(async () => (await import("../remove-domain")).RemoveDomain);

/** Whether the worker checks the domain repeatedly now. If so, the page refetches. */
const isAwaitingDns = ({ health, next_check_at, dkimKeys }: DomainView): boolean =>
  next_check_at !== null &&
  (health === "waiting" ||
    health === "faulty" ||
    health === "failing" ||
    dkimKeys.some(({ algorithm, stage }) => algorithm === "rsa" && stage === "waiting"));

type Props = { teamId: string; id: string };

/** The domain with its records and settings. Refetches while it awaits DNS. */
export function DomainPage({ teamId, id }: Props) {
  const trpc = useTRPC();
  const [isRemoving, setRemoving] = useState(false);
  const hrefOf = useConsoleHref();
  const disabledReason = useDisabledReason()("domains:write", "change domains");
  const query = useQuery(
    trpc.domains.get.queryOptions(
      { team: teamId, id },
      { refetchInterval: ({ state }) => (state.data && isAwaitingDns(state.data) ? refetchMs : false) },
    ),
  );
  const verify = useAction(trpc.domains.verify.mutationOptions(), {
    refresh: [trpc.domains.pathKey()],
    done: ({ status }) => (status === "verified" ? "Domain verified" : null),
  });
  const { data } = query;
  if (!data)
    return (
      <Fetched by={query}>
        <DomainLoading />
      </Fetched>
    );

  const card: CardProps = { teamId, domain: data, disabledReason };
  const isBuiltIn = data.health === "built_in";
  const isVerified = data.status === "verified";
  const verifyButton = (
    <Button
      tone={isVerified ? "plain" : "primary"}
      onClick={() => verify.run({ team: teamId, id })}
      disabled={verify.isBusy}
      disabledReason={disabledReason}
    >
      {verify.isBusy ? (
        <LoaderCircle className="size-4 motion-safe:animate-spin" />
      ) : (
        <Radar className="size-4" />
      )}
      {verify.isBusy ? "Checking…" : data.last_checked_at ? "Check again" : "Verify records"}
    </Button>
  );
  return (
    <>
      <PageHeading
        title={data.unicode ?? data.name}
        badge={<LabelBadge {...HEALTH[data.health]} />}
        description={<CheckTimes domain={data} isVerifying={verify.isBusy} />}
        back={{ href: "/console/domains", label: "Domains" }}
        actions={
          isBuiltIn ? null : (
            <>
              {verifyButton}
              <Menu
                label={`More actions for ${data.name}`}
                items={[
                  {
                    label: "Remove domain…",
                    Icon: Trash2,
                    tone: "bad",
                    why: disabledReason,
                    onSelect: () => setRemoving(true),
                  },
                ]}
              />
            </>
          )
        }
      />
      {data.warning ? (
        <div className="mb-6">
          <Banner tone="warn">{data.warning}</Banner>
        </div>
      ) : null}
      {isBuiltIn ? (
        <BuiltInNote />
      ) : (
        <div className="grid gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <div className="flex min-w-0 flex-col gap-6">
            <Banners domain={data} />
            <Records
              domain={data}
              isVerifying={verify.isBusy}
              verifyButton={isVerified ? null : verifyButton}
            />
            {data.last_checked_at || isVerified ? (
              <Suspense>
                <ReportsPart teamId={teamId} domain={data} />
              </Suspense>
            ) : null}
          </div>
          <div className="flex min-w-0 flex-col gap-6">
            <AlignmentCard domain={data} />
            <MetricsCard teamId={teamId} domain={data.name} />
            <KeysCard {...card} />
            <SettingsCard {...card} />
            <LimitsCard {...card} />
            <CopiesSection teamId={teamId} domain={id} />
            <UsersCard domain={data} />
          </div>
        </div>
      )}
      {isRemoving ? (
        <RemoveDomain
          teamId={teamId}
          domain={data}
          onClose={() => setRemoving(false)}
          next={hrefOf("/console/domains")}
        />
      ) : null}
    </>
  );
}

/** The times of the last and of the next DNS check. */
function CheckTimes({ domain, isVerifying }: { domain: DomainView; isVerifying: boolean }) {
  const { last_checked_at: lastCheckedAt, next_check_at: nextCheckAt, unicode, name } = domain;
  return (
    <span className="flex flex-wrap gap-x-2" role="status">
      {unicode ? (
        <>
          <code className="font-mono text-xs leading-6">{name}</code>
          <span aria-hidden="true">·</span>
        </>
      ) : null}
      {isVerifying ? (
        <span>Querying the name servers…</span>
      ) : (
        <span>
          {lastCheckedAt ? (
            <>
              Last checked <When at={lastCheckedAt} />
            </>
          ) : (
            "Not checked"
          )}
        </span>
      )}
      {!isVerifying && nextCheckAt ? (
        <>
          <span aria-hidden="true">·</span>
          <span>
            next check <When isDue at={nextCheckAt} />
          </span>
        </>
      ) : null}
    </span>
  );
}
