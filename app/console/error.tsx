"use client";

import { TriangleAlert } from "lucide-react";
import { Empty } from "./_ui/empty";
import { faultOf } from "./_ui/fault";
import { buttonStyle } from "./_ui/styles";

type Props = { error: Error & { digest?: string }; reset: () => void };

/** A console page that could not be made; the frame around it stays. The number stands in the log beside the cause. */
export default function ConsoleError({ error, reset }: Props) {
  const number = faultOf(error).requestId ?? error.digest;
  return (
    <div role="alert">
      <Empty
        icon={TriangleAlert}
        title="This page could not be made"
        action={
          <button type="button" onClick={reset} className={`${buttonStyle.plain} h-9`}>
            Try again
          </button>
        }
      >
        <p>Nothing was changed. Try again; if it stays, tell the operator{number ? " this number" : ""}.</p>
        {number ? <code className="select-all break-all font-mono text-xs">{number}</code> : null}
      </Empty>
    </div>
  );
}
