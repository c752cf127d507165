import { type Fault, isEndOfSession } from "../fault";
import { Button } from "../form/button";

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
