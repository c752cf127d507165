"use client";

import { useQuery } from "@tanstack/react-query";
import { CodeBlock } from "../../_ui/code-block";
import { Dialog } from "../../_ui/dialog";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/notes";
import { SkeletonCard } from "../../_ui/skeleton";
import { useTRPC } from "../../_ui/trpc";
import type { ActProps } from "./acts";

/** The command that would send the same mail. */
export function CallDialog({ teamId, email, open, onOpenChange }: ActProps) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.emails.asCall.queryOptions({ team: teamId, id: email.id }, { enabled: open }),
  );
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      size="wide"
      title="The same mail as a call"
      description={
        <>
          It takes the key from <code className="font-mono text-ink">POSTHORN_KEY</code>
          {email.files.length > 0 ? "; put each file's bytes, in base64, where its name stands" : ""}. Running
          it sends a new mail.
        </>
      }
    >
      {data ? (
        <CodeBlock text={data.command} label="Command" language="sh" />
      ) : error ? (
        <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />
      ) : (
        <SkeletonCard lines={6} />
      )}
    </Dialog>
  );
}
