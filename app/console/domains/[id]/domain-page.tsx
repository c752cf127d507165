"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { LoaderCircle, Radar, Trash2 } from "lucide-react";
import { useRouter } from "next/navigation";
import { Suspense, useState } from "react";
import type { DnsPanel } from "#server/mail/dns/panels";
import type { DomainView } from "#server/trpc/domains/views";
import { Menu } from "../../_ui/dialog/menu";
import { faultOf } from "../../_ui/fault";
import { ActionButton } from "../../_ui/form/action-button";
import { lazyPart } from "../../_ui/page/lazy-part";
import { PageHeading } from "../../_ui/page/page-heading";
import { useDisabledReason } from "../../_ui/page/permission";
import { buttonStyle } from "../../_ui/styles";
import { useConsoleHref } from "../../_ui/team";
import { Badge } from "../../_ui/text/badge";
import { FaultNote } from "../../_ui/text/notes";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";
import { HEALTH, refetchMs } from "../labels";
import { savePanel } from "../panel";
import { BuiltInNote, DeclaredNote, ExpiryNote, FailingNote, NameWarning, VerifiedNote } from "./banners";
import type { CardProps } from "./card";
import { KeysCard } from "./keys-card";
import { LimitsCard } from "./limits-card";
import DomainLoading from "./loading";
import { Records } from "./records";
import { SettingsCard } from "./settings-card";
import { AlignmentCard, UsersCard } from "./summary-cards";

const RemoveDomain = lazyPart(async () => (await import("../remove-domain")).RemoveDomain);

/** Whether the worker checks the domain repeatedly now. If so, the page refetches. */
const isAwaitingDns = ({ health, next_check_at, dkimKeys }: DomainView): boolean =>
  next_check_at !== null &&
  (health === "waiting" ||
    health === "faulty" ||
    health === "failing" ||
    dkimKeys.some(({ algorithm, stage }) => algorithm === "rsa" && stage === "waiting"));

type Props = { teamId: string; id: string; initialPanel: DnsPanel };

/** The domain with its records and settings. Refetches while it awaits DNS. */
export function DomainPage({ teamId, id, initialPanel }: Props) {
  const trpc = useTRPC();
  const [panel, setPanel] = useState(initialPanel);
  const [isOwnZone, setOwnZone] = useState(false);
  const disabledReason = useDisabledReason()("domains:write", "change domains");
  const { data, error, refetch } = useQuery(
    trpc.domains.get.queryOptions(
      { team: teamId, id, panel, isOwnZone },
      {
        placeholderData: keepPreviousData,
        refetchInterval: ({ state }) => (state.data && isAwaitingDns(state.data) ? refetchMs : false),
      },
    ),
  );
  const refresh = [trpc.domains.get.queryKey(), trpc.domains.list.queryKey()];
  const verify = useAction(trpc.domains.verify.mutationOptions(), {
    refresh,
    done: ({ status }) => (status === "verified" ? "Domain verified" : null),
  });
  if (!data)
    return error ? <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} /> : <DomainLoading />;

  const card: CardProps = { teamId, domain: data, refresh, disabledReason };
  const isBuiltIn = data.health === "built_in";
  const isVerified = data.status === "verified";
  const verifyButton = (
    <ActionButton
      onClick={() => verify.run({ team: teamId, id })}
      disabled={verify.isBusy}
      disabledReason={disabledReason}
      className={`${isVerified ? buttonStyle.plain : buttonStyle.primary} h-10`}
    >
      {verify.isBusy ? (
        <LoaderCircle className="size-4 motion-safe:animate-spin" aria-hidden="true" />
      ) : (
        <Radar className="size-4" aria-hidden="true" />
      )}
      {verify.isBusy ? "Checking…" : data.last_checked_at ? "Check again" : "Verify records"}
    </ActionButton>
  );
  return (
    <>
      <PageHeading
        title={data.unicode ?? data.name}
        badge={
          <Badge tone={HEALTH[data.health].tone} title={HEALTH[data.health].description}>
            {HEALTH[data.health].label}
          </Badge>
        }
        description={<CheckTimes domain={data} isVerifying={verify.isBusy} />}
        back={{ href: "/console/domains", label: "Domains" }}
        actions={
          isBuiltIn ? null : (
            <>
              <MoreMenu {...card} />
              {verifyButton}
            </>
          )
        }
      />
      <NameWarning domain={data} />
      {isBuiltIn ? (
        <BuiltInNote />
      ) : (
        <div className="grid gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <div className="flex min-w-0 flex-col gap-6">
            {data.declared_verified ? <DeclaredNote /> : null}
            {data.expires_at ? <ExpiryNote at={data.expires_at} /> : null}
            {data.failing_since ? <FailingNote since={data.failing_since} /> : null}
            {data.health === "verified" && data.last_checked_at ? <VerifiedNote name={data.name} /> : null}
            <Records
              domain={data}
              isVerifying={verify.isBusy}
              verifyButton={isVerified ? null : verifyButton}
              onPanel={(chosen) => {
                savePanel(chosen);
                setPanel(chosen);
              }}
              onOwnZone={setOwnZone}
            />
          </div>
          <div className="flex min-w-0 flex-col gap-6">
            <AlignmentCard domain={data} />
            <KeysCard {...card} />
            <SettingsCard {...card} />
            <LimitsCard {...card} />
            <UsersCard domain={data} />
          </div>
        </div>
      )}
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
      {isVerifying ? <span>Querying the name servers…</span> : null}
      {!isVerifying && lastCheckedAt ? (
        <span>
          Last checked <When at={lastCheckedAt} />
        </span>
      ) : null}
      {!isVerifying && !lastCheckedAt ? <span>Not checked yet</span> : null}
      {!isVerifying && nextCheckAt ? (
        <>
          <span aria-hidden="true">·</span>
          <span>
            next check <When at={nextCheckAt} />
          </span>
        </>
      ) : null}
    </span>
  );
}

/** The rarely used actions of a domain. */
function MoreMenu(props: CardProps) {
  const { teamId, domain, disabledReason } = props;
  const router = useRouter();
  const hrefOf = useConsoleHref();
  const [isRemoving, setRemoving] = useState(false);
  return (
    <>
      <Menu
        label={`More actions for ${domain.name}`}
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
      {isRemoving ? (
        <Suspense>
          <RemoveDomain
            teamId={teamId}
            domain={domain}
            onClose={() => setRemoving(false)}
            onRemoved={() => router.push(hrefOf("/console/domains"))}
          />
        </Suspense>
      ) : null}
    </>
  );
}
