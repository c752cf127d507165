"use client";

import { useMutation } from "@tanstack/react-query";
import Link from "next/link";
import { useEffect } from "react";
import { faultOf } from "../console/_ui/fault";
import { Button } from "../console/_ui/form/button";
import { SessionWatch } from "../console/_ui/session/session-watch";
import { buttonStyle } from "../console/_ui/styles";
import { useTRPC } from "../console/_ui/trpc";
import { SignInFrame } from "../login/frame";
import { clearToken, useInvitationToken } from "./invitation-token";
import { type InvitationPreview, JoinOptions } from "./join-options";

type Closed = Exclude<InvitationPreview["state"], "open">;

const CLOSED: Record<Closed, { title: string; text: string }> = {
  unknown: {
    title: "Invalid invitation link",
    text: "Check that the link is complete. If a newer link has replaced it, use that one.",
  },
  accepted: {
    title: "This invitation was already accepted",
    text: "An invitation can be used once. If you accepted it, sign in to open the team.",
  },
  withdrawn: {
    title: "This invitation was withdrawn",
    text: "Ask the sender for a new invitation.",
  },
  expired: {
    title: "This invitation has expired",
    text: "Invitations are valid for seven days. Ask the sender for a new link.",
  },
};

/**
 * Shows an invitation and accepts it. The form depends on whether the user has an account and is signed in.
 */
export function InvitePage() {
  const trpc = useTRPC();
  const token = useInvitationToken();
  const { mutate, data, error } = useMutation(trpc.invitations.read.mutationOptions());
  useEffect(() => {
    if (token) mutate({ token });
  }, [token, mutate]);
  useEffect(() => {
    if (data && data.state !== "open") clearToken();
  }, [data]);

  if (token === "") return <ClosedInvitation state="unknown" signedInAs={null} />;
  if (error)
    return (
      <SignInFrame title="The invitation could not be loaded" description={faultOf(error).message}>
        <Button className="w-full" onClick={() => mutate({ token: token ?? "" })}>
          Try again
        </Button>
      </SignInFrame>
    );
  if (!data || !token)
    return (
      <SignInFrame title="Invitation">
        <p role="status" className="min-h-28 text-soft leading-6">
          Loading your invitation…
        </p>
      </SignInFrame>
    );
  if (data.state !== "open") return <ClosedInvitation state={data.state} signedInAs={data.signedInAs} />;
  return (
    <SignInFrame
      title={`Join ${data.team_name}`}
      description={`${data.invited_by ?? "The operator"} invites you to the team, as ${/^[aeo]/.test(data.role) ? "an" : "a"} ${data.role}.`}
    >
      <JoinOptions invitation={data} token={token} />
      {data.signedInAs ? <SessionWatch email={data.signedInAs} /> : null}
    </SignInFrame>
  );
}

function ClosedInvitation({ state, signedInAs }: { state: Closed; signedInAs: string | null }) {
  const { title, text } = CLOSED[state];
  return (
    <SignInFrame title={title} description={text}>
      <Link href={signedInAs ? "/console" : "/login"} className={`${buttonStyle.plain} h-10 w-full`}>
        {signedInAs ? "Go to the console" : "Sign in"}
      </Link>
    </SignInFrame>
  );
}
