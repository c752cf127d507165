"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { LoaderCircle, Radar } from "lucide-react";
import { useState } from "react";
import type { DnsPanel } from "#server/mail/dns-panels";
import type { DomainView } from "#server/trpc/domain-views";
import { ActButton } from "../../_ui/act-button";
import { Badge } from "../../_ui/badge";
import { faultOf } from "../../_ui/fault";
import { useWhyNot } from "../../_ui/no-right";
import { FaultNote } from "../../_ui/notes";
import { PageHeading } from "../../_ui/page-heading";
import { buttonStyle } from "../../_ui/styles";
import { useTRPC } from "../../_ui/trpc";
import { useAct } from "../../_ui/use-act";
import { When } from "../../_ui/when";
import { askAgainMs, HEALTH } from "../words";
import { AlignmentCard } from "./alignment-card";
import { BuiltInNote, DeclaredNote, FailingNote, NameWarning, VerifiedNote } from "./banners";
import { KeysCard } from "./keys-card";
import { LimitsCard } from "./limits-card";
import DomainLoading from "./loading";
import { MoreMenu } from "./more-menu";
import { keepPanel } from "./panel";
import { Records } from "./records";
import { SettingsCard } from "./settings-card";
import { UsersCard } from "./users-card";

/** Whether somebody looks at the domain by himself now, so that its page has news to wait for. */
const isAwaited = ({ health, nextCheckAt, dkimKeys }: DomainView): boolean =>
  nextCheckAt !== null &&
  (health === "waiting" ||
    health === "faulty" ||
    health === "failing" ||
    dkimKeys.some(({ algorithm, stage }) => algorithm === "rsa" && stage === "waiting"));

type Props = { teamId: string; id: string; firstPanel: DnsPanel };

/** The domain as it stands, asked for again while DNS is awaited. */
export function DomainPage({ teamId, id, firstPanel }: Props) {
  const trpc = useTRPC();
  const [panel, setPanel] = useState(firstPanel);
  const [isOwnZone, setOwnZone] = useState(false);
  const whyNot = useWhyNot()("domains:write", "change domains");
  const { data, error, refetch } = useQuery(
    trpc.domains.get.queryOptions(
      { team: teamId, id, panel, isOwnZone },
      {
        placeholderData: keepPreviousData,
        refetchInterval: ({ state }) => (state.data && isAwaited(state.data) ? askAgainMs : false),
      },
    ),
  );
  const refresh = [trpc.domains.get.queryKey(), trpc.domains.list.queryKey()];
  const verify = useAct(trpc.domains.verify.mutationOptions(), {
    refresh,
    done: ({ status }) => (status === "verified" ? "Verified: everything is in order" : null),
  });
  if (!data)
    return error ? <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} /> : <DomainLoading />;

  const isFixed = data.isBuiltIn;
  const isSettled = data.status === "verified";
  const verifyButton = (
    <ActButton
      onClick={() => verify.act({ team: teamId, id })}
      disabled={verify.isBusy}
      whyNot={whyNot}
      className={`${isSettled ? buttonStyle.plain : buttonStyle.primary} h-10`}
    >
      {verify.isBusy ? (
        <LoaderCircle className="size-4 motion-safe:animate-spin" aria-hidden="true" />
      ) : (
        <Radar className="size-4" aria-hidden="true" />
      )}
      {verify.isBusy ? "Looking…" : data.lastCheckedAt ? "Look again now" : "Verify now"}
    </ActButton>
  );
  return (
    <>
      <PageHeading
        title={data.unicode ?? data.name}
        badge={
          <Badge tone={HEALTH[data.health].tone} title={HEALTH[data.health].means}>
            {HEALTH[data.health].label}
          </Badge>
        }
        description={<Looks domain={data} isLooking={verify.isBusy} />}
        back={{ href: "/console/domains", label: "Domains" }}
        actions={
          isFixed ? null : (
            <>
              <MoreMenu teamId={teamId} domain={data} refresh={refresh} whyNot={whyNot} />
              {verifyButton}
            </>
          )
        }
      />
      <NameWarning domain={data} />
      {isFixed ? (
        <BuiltInNote />
      ) : (
        <div className="grid gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <div className="flex min-w-0 flex-col gap-6">
            {data.isDeclared ? <DeclaredNote /> : null}
            {data.failingSince ? <FailingNote since={data.failingSince} /> : null}
            {data.health === "verified" && data.lastCheckedAt ? <VerifiedNote name={data.name} /> : null}
            <Records
              domain={data}
              isLooking={verify.isBusy}
              verifyButton={isSettled ? null : verifyButton}
              onPanel={(chosen) => {
                keepPanel(chosen);
                setPanel(chosen);
              }}
              onOwnZone={setOwnZone}
            />
          </div>
          <div className="flex min-w-0 flex-col gap-6">
            <AlignmentCard domain={data} />
            <KeysCard teamId={teamId} domain={data} refresh={refresh} whyNot={whyNot} />
            <SettingsCard teamId={teamId} domain={data} refresh={refresh} whyNot={whyNot} />
            <LimitsCard teamId={teamId} domain={data} refresh={refresh} whyNot={whyNot} />
            <UsersCard domain={data} />
          </div>
        </div>
      )}
    </>
  );
}

/** When it was looked at, and when that happens again. */
function Looks({ domain, isLooking }: { domain: DomainView; isLooking: boolean }) {
  const { lastCheckedAt, nextCheckAt, unicode, name } = domain;
  return (
    <span className="flex flex-wrap gap-x-2" role="status">
      {unicode ? (
        <>
          <code className="font-mono text-xs leading-6">{name}</code>
          <span aria-hidden="true">·</span>
        </>
      ) : null}
      {isLooking ? <span>Asking the name servers for each record…</span> : null}
      {!isLooking && lastCheckedAt ? (
        <span>
          Looked at <When at={lastCheckedAt} />
        </span>
      ) : null}
      {!isLooking && !lastCheckedAt ? <span>Nobody has looked at its records yet</span> : null}
      {!isLooking && nextCheckAt ? (
        <>
          <span aria-hidden="true">·</span>
          <span>
            again <When at={nextCheckAt} />
          </span>
        </>
      ) : null}
    </span>
  );
}
