import { Ban, Hourglass, type LucideIcon, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { EndpointView } from "#server/trpc/webhook-views";
import { When } from "../../_ui/when";

type Tone = "bad" | "warn" | "mute";
const TONES: Record<Tone, string> = {
  bad: "bg-bad-tint text-bad",
  warn: "bg-warn-tint text-warn",
  mute: "bg-mute-tint text-mute",
};

/** Why an endpoint is not called as fast as it could be, and what becomes of what waits. Nothing where all is well. */
export function LaneNote({ endpoint }: { endpoint: EndpointView }) {
  const { lane, disabledReason, failingSince, disablesAt, disablesAfterFailures, pausedUntil } = endpoint;
  if (lane === "closed")
    return (
      <Note tone={disabledReason ? "bad" : "mute"} Icon={Ban}>
        {disabledReason === "gone"
          ? "It answered 410 Gone, so we disabled it. "
          : disabledReason === "failing"
            ? "Every call failed for days, so we disabled it. "
            : "It is paused. "}
        Nothing is sent to it, and events that come now are not kept for it. What waited was given up; resume
        it and replay the time that it missed.
      </Note>
    );
  if (lane === "paused" && pausedUntil)
    return (
      <Note tone="warn" Icon={Hourglass}>
        It, or a server in front of it, asked to be left alone. Nothing is sent to it for now; calls go on{" "}
        <When at={pausedUntil} />.
      </Note>
    );
  if (lane === "single" && failingSince)
    return (
      <Note tone="warn" Icon={TriangleAlert}>
        No call has succeeded since one failed <When at={failingSince} />. Until one does, it gets one call at
        a time, so that what waits for it holds up nobody else.
        {disablesAt ? (
          <>
            {" "}
            If that goes on, we disable it <When at={disablesAt} />, after {disablesAfterFailures} failures at
            the least.
          </>
        ) : null}
      </Note>
    );
  return null;
}

function Note({ tone, Icon, children }: { tone: Tone; Icon: LucideIcon; children: ReactNode }) {
  return (
    <p role="status" className={`flex gap-3 rounded-xl px-5 py-3.5 leading-6 ${TONES[tone]}`}>
      <Icon className="mt-1 size-4 shrink-0" aria-hidden="true" />
      <span className="min-w-0 max-w-prose">{children}</span>
    </p>
  );
}
