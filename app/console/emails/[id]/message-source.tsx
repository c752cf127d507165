"use client";

import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { CopyButton } from "../../_ui/copy-button";
import { faultOf } from "../../_ui/fault";
import { FaultNote } from "../../_ui/notes";
import { SkeletonCard } from "../../_ui/skeleton";
import { buttonStyle } from "../../_ui/styles";

const shownChars = 200_000;

/** Where the message lies as a file. */
export const sourceHref = (teamId: string, id: string): string =>
  `/console/emails/${encodeURIComponent(id)}/source?team=${encodeURIComponent(teamId)}`;

/** The message as it travels, fetched when somebody wants to see it. */
export function MessageSource({ teamId, id }: { teamId: string; id: string }) {
  const href = sourceHref(teamId, id);
  const { data, error, refetch } = useQuery({
    queryKey: ["source", href],
    queryFn: ({ signal }) => fetchSource(href, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (error) return <FaultNote fault={faultOf(error)} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonCard lines={6} />;
  const shown = data.slice(0, shownChars);
  return (
    <div>
      <div className="flex min-h-12 flex-wrap items-center gap-2 border-line border-b px-4 py-2">
        <p className="mr-auto text-soft text-xs">As it travels, without the signature where none was kept.</p>
        <CopyButton text={shown} label="Copy the source" />
        <a href={href} className={`${buttonStyle.quiet} h-8`}>
          <Download className="size-4" aria-hidden="true" /> .eml
        </a>
      </div>
      <pre className="max-h-[40rem] overflow-auto whitespace-pre-wrap p-4 font-mono text-xs leading-5 [overflow-wrap:anywhere]">
        {shown}
      </pre>
      {data.length > shown.length ? (
        <p className="px-4 pb-4 text-soft">The rest is too long to be shown here; the file has all of it.</p>
      ) : null}
    </div>
  );
}

async function fetchSource(href: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(href, { signal });
  if (!response.ok) throw await readRefusal(response);
  return response.text();
}

/** As the calls of the console are refused, so that `faultOf` reads it. A proxy in front of us says nothing of the sort. */
async function readRefusal(response: Response): Promise<Error> {
  const said = (await response.json().catch(() => null)) as Refusal | null;
  const { message = `The service answered ${response.status}.`, data = {} } = said?.error ?? {};
  return Object.assign(new Error(message), { data });
}

type Refusal = { error?: { message?: string; data?: { code: string; requestId: string } } };
