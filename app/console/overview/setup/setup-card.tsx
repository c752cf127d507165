"use client";

import { useQuery } from "@tanstack/react-query";
import type { inferRouterOutputs } from "@trpc/server";
import { Circle, CircleCheck } from "lucide-react";
import { type ReactNode, Suspense, useState } from "react";
import { CAPTURED } from "#server/shared/email-words";
import type { AppRouter } from "#server/trpc/router";
import { SecretText } from "../../_ui/dialog/secret-once";
import { Button } from "../../_ui/form/button";
import { Card } from "../../_ui/page/card";
import { lazyDialog, lazyPart } from "../../_ui/page/lazy-part";
import { TextLink } from "../../_ui/page/page-link";
import { useLeaveGuard } from "../../_ui/shell/leave-guard";
import { linkStyle } from "../../_ui/styles";
import { useCan, useIsOperator } from "../../_ui/team";
import { When } from "../../_ui/text/when";
import { useTRPC } from "../../_ui/trpc";
import { useAction } from "../../_ui/use-action";

const SampleTabs = lazyPart(async () => (await import("./sample-tabs")).SampleTabs);
const SendTest = lazyDialog(() => import("./send-test").then(({ SendTest }) => SendTest));

type Setup = inferRouterOutputs<AppRouter>["overview"]["parts"]["setup"];
type Props = { teamId: string; setup: Setup; publicUrl: string };

/**
 * The remaining setup steps before the first email of the team's own domain, with what each needs in place
 * and examples that send it. Once a key was created here, it stays until the user has stored the key.
 */
export function SetupCard({ teamId, setup, publicUrl }: Props) {
  const can = useCan();
  const isOperator = useIsOperator();
  const [isTesting, setTesting] = useState(false);
  const [token, setToken] = useState<string | null>(null);
  useLeaveGuard(token !== null, {
    title: "Leave without storing the key?",
    text: "The API key is shown only once. If you have not stored it, create another one later.",
  });
  const { hasTest, hasTransport, isCapturing, verifiedDomain, hasKey, hasSent, ownAddress, smtp } = setup;
  // The answer to the last step is still in the open dialog.
  if (hasSent && token === null && !isTesting) return null;
  const steps = [hasTest, hasTransport, verifiedDomain !== null, hasKey, hasSent];
  /** A link to the form for a new object of a list. */
  const addLink = (path: string, text: string) => (
    <TextLink to={path} parameters={{ new: "true" }}>
      {text}
    </TextLink>
  );
  return (
    <div className="mb-6">
      <Card
        title="Set up sending"
        actions={
          <p className="text-soft text-xs">
            {steps.filter(Boolean).length} of {steps.length} done
          </p>
        }
      >
        <div className="grid grid-cols-1 gap-x-8 gap-y-6 px-4 py-5 lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]">
          <ol className="flex flex-col gap-4">
            <Step isDone={hasTest} title="Test email">
              {hasTest ? "Sent." : "Send one from here. Works without code or an SMTP server."}
              {can("emails:send") ? (
                <span className="mt-2 block">
                  <Button isSmall tone={hasTest ? "plain" : "primary"} onClick={() => setTesting(true)}>
                    {hasTest ? "Send another" : "Send a test email"}
                  </Button>
                </span>
              ) : null}
            </Step>
            <Step isDone={hasTransport} title="Outgoing email">
              {isCapturing ? (
                <>
                  {CAPTURED} The list of emails shows it, and nothing leaves this installation.{" "}
                  <a href="/docs/install" className={linkStyle}>
                    Send to real recipients
                  </a>
                </>
              ) : hasTransport ? (
                "Configured."
              ) : isOperator ? (
                <>{addLink("/console/installation/relays", "Add a relay")} and test it there.</>
              ) : (
                "The operator of this installation adds a relay. Until then, email to real recipients stays queued."
              )}
            </Step>
            <Step isDone={verifiedDomain !== null} title="Sending domain">
              {verifiedDomain === null ? (
                <>
                  {addLink("/console/domains", "Add a domain")} and publish its DNS records. Until then, test
                  with <code>hello@backstamp.test</code> as the sender and{" "}
                  <code>delivered@backstamp.test</code> as the recipient.
                </>
              ) : (
                <>{verifiedDomain} is verified.</>
              )}
            </Step>
            <Step isDone={hasKey} title="API key">
              <OwnKey teamId={teamId} hasKey={hasKey} token={token} onChange={setToken} />
            </Step>
            <Step isDone={hasSent} title="First email from your domain">
              {verifiedDomain === null ? (
                <>
                  The examples send from <code>backstamp.test</code> until your domain is verified.
                </>
              ) : (
                "Send it with one of these examples."
              )}{" "}
              This list updates by itself.
              {can("logs:read") ? <LastRejection teamId={teamId} /> : null}
            </Step>
          </ol>
          {/* Beside or below the steps, so its arrival moves nothing above it. */}
          <Suspense fallback={<div className="min-h-80" />}>
            <SampleTabs
              publicUrl={publicUrl}
              domain={verifiedDomain}
              hasTransport={hasTransport}
              ownAddress={ownAddress}
              token={token}
              smtp={smtp}
            />
          </Suspense>
        </div>
      </Card>
      {isTesting ? <SendTest teamId={teamId} onClose={() => setTesting(false)} /> : null}
    </div>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ReactNode }) {
  const Icon = isDone ? CircleCheck : Circle;
  return (
    <li className="flex gap-3">
      <Icon className={`mt-0.5 size-4 shrink-0 ${isDone ? "text-good" : "text-soft"}`} />
      <div className="min-w-0">
        <h3 className={`font-medium ${isDone ? "text-soft" : ""}`}>
          {title}
          <span className="sr-only">{isDone ? " (done)" : " (to do)"}</span>
        </h3>
        <div className="text-soft leading-6">{children}</div>
      </div>
    </li>
  );
}

const refetchMs = 5_000;

/** Why the newest request was rejected: programs often show only that the permissions are insufficient. */
function LastRejection({ teamId }: { teamId: string }) {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.activity.requests.queryOptions({ team: teamId, status: "refused" }, { refetchInterval: refetchMs }),
  );
  const last = data?.rows.find(({ rejection }) => rejection !== null);
  if (!last?.rejection) return null;
  return (
    <span className="mt-2 block break-words rounded-lg bg-warn-tint px-3 py-2 text-warn" role="status">
      A request was rejected <When at={last.created_at} />: {last.rejection.detail} All are under{" "}
      <TextLink to="/console/activity/requests">API requests</TextLink>.
    </span>
  );
}

type OwnKeyProps = {
  teamId: string;
  hasKey: boolean;
  token: string | null;
  onChange: (token: string | null) => void;
};

/** Creates a key that can send from all domains, and shows it until the user has stored it. */
function OwnKey({ teamId, hasKey, token, onChange }: OwnKeyProps) {
  const trpc = useTRPC();
  const can = useCan();
  const action = useAction(trpc.keys.create.mutationOptions({ gcTime: 0 }), {
    refresh: [trpc.keys.list.queryKey(), trpc.overview.parts.queryKey()],
    onDone: ({ token: created }) => onChange(created),
  });
  if (token !== null)
    return (
      <span className="flex flex-col gap-2">
        It is shown only once, here and in the examples.
        <SecretText text={token} label="API key" />
        <span>
          <Button isSmall onClick={() => onChange(null)}>
            I have stored it
          </Button>
        </span>
      </span>
    );
  const create = () =>
    action.run({
      team: teamId,
      scopes: ["emails:send"],
      domains: "all",
      expiresAt: null,
      clientNetworks: [],
      limits: {},
    });
  return (
    <>
      {hasKey ? "Created." : "Used by programs to send email. It is shown only once."}
      {can("keys:write") ? (
        <span className="mt-2 block">
          <Button isSmall disabled={action.isBusy} onClick={create}>
            {hasKey ? "Create another for the examples" : "Create an API key"}
          </Button>
        </span>
      ) : null}
    </>
  );
}
