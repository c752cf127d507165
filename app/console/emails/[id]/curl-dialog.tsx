"use client";

import { useQuery } from "@tanstack/react-query";
import { Dialog } from "../../_ui/dialog/dialog";
import { faultOf } from "../../_ui/fault";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { CodeBlock } from "../../_ui/text/code-block";
import { FaultNote } from "../../_ui/text/notes";
import { useTRPC } from "../../_ui/trpc";
import type { EmailDialogProps } from "./email-actions";

/** Shows the curl command that sends the same email. */
export function CurlDialog({ teamId, email, open, onOpenChange }: EmailDialogProps) {
  const trpc = useTRPC();
  const { data, error, refetch } = useQuery(
    trpc.emails.asCall.queryOptions({ team: teamId, id: email.id }, { enabled: open }),
  );
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      size="wide"
      title="Copy as curl"
      description={
        <>
          The command reads the API key from <code className="font-mono text-ink">BACKSTAMP_KEY</code>.
          {email.files.length > 0 ? " Replace each file name with the content of the file in base64." : ""}{" "}
          Running the command sends a new email.
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
