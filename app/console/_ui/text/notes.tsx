import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { type Fault, isEndOfSession } from "../fault";
import { Button } from "../form/button";
import { TONES } from "./badge";
import type { Tone } from "./statuses";

type NoteProps = { tone?: Tone; Icon?: LucideIcon; role?: "status"; children: ReactNode };

/** A text with a colored background: what to know before the next step, or what has happened. */
export const Note = ({ tone = "warn", Icon, role, children }: NoteProps) => (
  <div role={role} className={`flex gap-2.5 rounded-lg px-3.5 py-2.5 leading-6 ${TONES[tone]}`}>
    {Icon ? <Icon className="mt-1 size-4 shrink-0" aria-hidden="true" /> : null}
    <p className="min-w-0 break-words">{children}</p>
  </div>
);

/** A failed call: the reason, the request id, and a button to try again. */
export const FaultNote = ({ fault, onRetry }: { fault: Fault; onRetry: () => void }) =>
  isEndOfSession(fault) ? null : (
    <div role="alert" className="flex flex-col items-center gap-3 px-4 py-16 text-center">
      <h2 className="font-semibold text-base">Loading failed</h2>
      <p className="max-w-prose text-soft">{fault.message}</p>
      {fault.requestId ? (
        <p className="text-soft text-xs">
          Request <code className="select-all font-mono">{fault.requestId}</code>
        </p>
      ) : null}
      <Button isSmall onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
