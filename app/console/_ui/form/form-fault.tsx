import type { Fault } from "../fault";

/** Why a form or an action was rejected, with the request id. Screen readers announce it. */
export function FormFault({ fault }: { fault: Fault | null | undefined }) {
  return (
    <div role="alert" className="empty:hidden">
      {fault ? (
        <div className="rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad leading-6">
          <p className="break-words">{fault.message}</p>
          {fault.requestId ? (
            <p className="text-xs">
              Request <code className="select-all break-all font-mono">{fault.requestId}</code>
            </p>
          ) : null}
        </div>
      ) : null}
    </div>
  );
}
