"use client";

import { useMutation } from "@tanstack/react-query";
import Link from "next/link";
import { useEffect } from "react";
import type { HeldInvitation } from "#server/trpc/member-views";
import { faultOf } from "../console/_ui/fault";
import { buttonStyle } from "../console/_ui/styles";
import { useTRPC } from "../console/_ui/trpc";
import { SignInFrame } from "../login/frame";
import { JoinAsNew } from "./join-as-new";
import { JoinAsUser, SignInFirst, WrongPerson } from "./join-as-user";
import { forgetToken, useInvitationToken } from "./kept-token";

type Open = Extract<HeldInvitation, { state: "open" }>;
type Closed = Exclude<HeldInvitation["state"], "open">;

const CLOSED: Record<Closed, { title: string; text: string }> = {
  unknown: {
    title: "This link opens no invitation",
    text: "Was it copied whole? A newer link for the same invitation may have replaced it: then ask for that one.",
  },
  accepted: {
    title: "This invitation was accepted already",
    text: "It was good once. If that was you, sign in to get to the team.",
  },
  withdrawn: {
    title: "This invitation was withdrawn",
    text: "It opens nothing any more. Ask whoever sent it for another one.",
  },
  expired: {
    title: "This invitation has run out",
    text: "Invitations are good for seven days. Ask whoever sent it for another link.",
  },
};

/** Tells whoever holds the link what it is for, and lets them in when they say so. */
export function InvitePage() {
  const trpc = useTRPC();
  const token = useInvitationToken();
  const { mutate, data, error } = useMutation(trpc.invitations.look.mutationOptions());
  useEffect(() => {
    if (token) mutate({ token });
  }, [token, mutate]);
  useEffect(() => {
    if (data && data.state !== "open") forgetToken();
  }, [data]);

  if (token === "") return <ClosedInvitation state="unknown" signedInAs={null} />;
  if (error)
    return (
      <SignInFrame title="This does not work just now" description={faultOf(error).message}>
        <button
          type="button"
          onClick={() => mutate({ token: token ?? "" })}
          className={`${buttonStyle.plain} h-10 w-full`}
        >
          Try again
        </button>
      </SignInFrame>
    );
  if (!data || !token)
    return (
      <SignInFrame title="Invitation">
        <p role="status" className="min-h-28 text-soft leading-6">
          Looking at your invitation…
        </p>
      </SignInFrame>
    );
  if (data.state !== "open") return <ClosedInvitation state={data.state} signedInAs={data.signedInAs} />;
  return (
    <SignInFrame title={`Join ${data.teamName}`} description={<Introduction invitation={data} />}>
      <Way invitation={data} token={token} />
    </SignInFrame>
  );
}

function Introduction({ invitation: { invitedBy, role } }: { invitation: Open }) {
  const article = /^[aeo]/.test(role) ? "an" : "a";
  return (
    <>
      {invitedBy ?? "Whoever runs this Posthorn"} invites you to the team, as {article} {role}.
    </>
  );
}

function Way({ invitation, token }: { invitation: Open; token: string }) {
  const { email, signedInAs, hasUser } = invitation;
  if (signedInAs === email) return <JoinAsUser token={token} email={email} />;
  if (signedInAs !== null) return <WrongPerson email={email} signedInAs={signedInAs} />;
  if (hasUser) return <SignInFirst email={email} />;
  return <JoinAsNew token={token} email={email} />;
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
