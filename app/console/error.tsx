"use client";

import { TriangleAlert } from "lucide-react";
import { loadPage } from "./_ui/connection/connection";
import { faultOf } from "./_ui/fault";
import { Button } from "./_ui/form/button";
import { Empty } from "./_ui/list/empty";

type Props = { error: Error & { digest?: string }; reset: () => void };

/** Shown inside the console frame when a page fails to render. The log has the cause under the same code. */
export default function ConsoleError({ error, reset }: Props) {
  const code = faultOf(error).requestId ?? error.digest;
  // React keeps the failure of code that could not be loaded, until the page is loaded as a whole.
  const retry = error.name === "ChunkLoadError" ? () => void loadPage(window.location.href) : reset;
  return (
    <div role="alert">
      <Empty
        icon={TriangleAlert}
        title="This page could not be loaded"
        action={
          <Button isSmall onClick={retry}>
            Try again
          </Button>
        }
      >
        <p>
          No changes were made. Try again. If the error persists,{" "}
          {code ? "send this code to the operator" : "contact the operator"}.
        </p>
        {code ? <code className="select-all break-all font-mono text-xs">{code}</code> : null}
      </Empty>
    </div>
  );
}
