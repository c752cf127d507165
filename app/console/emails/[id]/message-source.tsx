"use client";

import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { SkeletonCard } from "../../_ui/list/skeleton";
import { Fetched } from "../../_ui/page/fetched";
import { buttonStyle } from "../../_ui/styles";
import { CopyButton } from "../../_ui/text/copy-button";

const sourceCharsMax = 200_000;

/** The URL of the message as an .eml file. */
export const sourceHref = (teamId: string, id: string): string =>
  `/console/emails/${encodeURIComponent(id)}/source?team=${encodeURIComponent(teamId)}`;

/** The raw MIME source of the message, fetched when the tab is opened. */
export function MessageSource({ teamId, id }: { teamId: string; id: string }) {
  const href = sourceHref(teamId, id);
  const query = useQuery({
    queryKey: ["source", href],
    queryFn: ({ signal }) => fetchSource(href, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <Fetched isBare by={query} loading={<SkeletonCard lines={6} />}>
      {(data) => <Source href={href} source={data} />}
    </Fetched>
  );
}

function Source({ href, source }: { href: string; source: string }) {
  const text = source.slice(0, sourceCharsMax);
  return (
    <div>
      <div className="flex min-h-12 flex-wrap items-center gap-2 border-line border-b px-4 py-2">
        <p className="mr-auto text-soft text-xs">
          Raw MIME source. It includes the DKIM signature only if one is stored.
        </p>
        <CopyButton text={text} label="Copy source" />
        <a href={href} className={`${buttonStyle.quiet} h-8`}>
          <Download className="size-4" aria-hidden="true" /> .eml
        </a>
      </div>
      <pre className="max-h-[40rem] overflow-auto whitespace-pre-wrap p-4 font-mono text-xs leading-5 [overflow-wrap:anywhere]">
        {text}
      </pre>
      {source.length > text.length ? (
        <p className="px-4 pb-4 text-soft">
          The source is truncated here. Download the .eml file to see all of it.
        </p>
      ) : null}
    </div>
  );
}

async function fetchSource(href: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(href, { signal });
  if (!response.ok) throw await readError(response);
  return response.text();
}

/** Converts an error response to the shape that `faultOf` reads. A reverse proxy may respond without a JSON body. */
async function readError(response: Response): Promise<Error> {
  const body = (await response.json().catch(() => null)) as ErrorBody | null;
  const { message = `The service responded with status ${response.status}.`, data = {} } = body?.error ?? {};
  return Object.assign(new Error(message), { data });
}

type ErrorBody = { error?: { message?: string; data?: { code: string; requestId: string } } };
