import { type Fault, isEndOfSession } from "../fault";
import { AddressText } from "../text/address";

/** Why a form or an action was rejected, with the request id if there is one. Screen readers announce it. */
export function FormFault({ fault }: { fault: Fault | string | null | undefined }) {
  const { message, requestId } =
    typeof fault === "string"
      ? { message: fault, requestId: null }
      : fault && !isEndOfSession(fault)
        ? fault
        : { message: null, requestId: null };
  return (
    <div role="alert" className="empty:hidden">
      {message ? (
        <div className="rounded-lg bg-bad-tint px-3.5 py-2.5 text-bad leading-6">
          <p className="break-words">
            <AddressText>{message}</AddressText>
          </p>
          {requestId ? (
            <p className="text-xs">
              Request <code className="select-all break-all font-mono">{requestId}</code>
            </p>
          ) : null}
        </div>
      ) : null}
    </div>
  );
}
