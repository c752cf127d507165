"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { Globe, Hash, LayoutTemplate, type LucideIcon, Mail, Search } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useTeam } from "../team";
import { StatusBadge } from "../text/badge";
import { useTRPC } from "../trpc";

/** Delay after the last key press. It avoids a search for each incomplete word. */
const settleMs = 200;
const resultsMax = 5;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Opens a console page of the team. */
export type Go = (path: string, parameters?: Record<string, string>) => void;
type Props = { text: string; go: Go };

/** Emails, templates and domains of the team that match the text. Each kind is searched by the call of its own list. */
export function PaletteResults({ text, go }: Props) {
  const trpc = useTRPC();
  const { team } = useTeam();
  const settled = useSettled(text);
  const isEnabled = settled.length > 1 && team !== null;
  const input = { team: team?.teamId ?? "" };
  const options = { enabled: isEnabled, placeholderData: keepPreviousData, retry: false } as const;
  const emails = useQuery(trpc.emails.list.queryOptions({ ...input, search: settled }, options));
  const templates = useQuery(trpc.templates.list.queryOptions({ ...input, search: settled }, options));
  const domains = useQuery(trpc.domains.list.queryOptions({ ...input, name: settled }, options));
  if (!isEnabled) return null;
  return (
    <>
      {UUID.test(text) ? (
        <PaletteItem isFound value={`id ${text}`} Icon={Hash} onSelect={() => go(`/console/emails/${text}`)}>
          Open the email with this id
        </PaletteItem>
      ) : null}
      <Results
        heading="Emails"
        Icon={Mail}
        path="/console/emails"
        rows={emails.data?.rows}
        go={go}
        aside={({ status }) => <StatusBadge status={status} />}
      >
        {({ subject, to }) => (
          <>
            <span className="truncate">{subject || "No subject"}</span>
            <span className="truncate text-soft text-xs">{to[0]}</span>
          </>
        )}
      </Results>
      <Results
        heading="Templates"
        Icon={LayoutTemplate}
        path="/console/templates"
        rows={templates.data?.rows}
        go={go}
      >
        {({ name }) => <span className="truncate">{name}</span>}
      </Results>
      <Results heading="Domains" Icon={Globe} path="/console/domains" rows={domains.data?.rows} go={go}>
        {({ name }) => <span className="truncate">{name}</span>}
      </Results>
      <PaletteItem
        isFound
        value="search all emails"
        Icon={Search}
        onSelect={() => go("/console/emails", { q: text })}
      >
        <span className="truncate">Search all emails for “{text}”</span>
      </PaletteItem>
    </>
  );
}

type ResultsProps<Row> = Pick<Props, "go"> & {
  heading: string;
  Icon: LucideIcon;
  /** The page of a row, without its id. */
  path: string;
  rows: readonly Row[] | undefined;
  children: (row: Row) => ReactNode;
  aside?: (row: Row) => ReactNode;
};

function Results<Row extends { id: string }>(props: ResultsProps<Row>) {
  const { heading, Icon, path, rows = [], go, children, aside } = props;
  if (rows.length === 0) return null;
  return (
    <Command.Group forceMount heading={heading} className={groupStyle}>
      {rows.slice(0, resultsMax).map((row) => (
        <PaletteItem
          isFound
          key={row.id}
          value={`${heading} ${row.id}`}
          Icon={Icon}
          onSelect={() => go(`${path}/${row.id}`)}
          aside={aside?.(row)}
        >
          {children(row)}
        </PaletteItem>
      ))}
    </Command.Group>
  );
}

/** The text, updated when the user stops typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

export const groupStyle =
  "[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-soft [&_[cmdk-group-heading]]:text-xs";

export type PaletteItemProps = {
  /** Unique key of the item. Unless `isFound` is set, the typed text is matched against it. */
  value: string;
  Icon: LucideIcon;
  onSelect: () => void;
  /** A search result of the server: always shown, without local matching. */
  isFound?: boolean;
  /** Alternative search terms. */
  keywords?: string[];
  children: ReactNode;
  /** Shown at the right: keys or a status. */
  aside?: ReactNode;
};

/** One line of the palette. */
export const PaletteItem = ({
  value,
  Icon,
  onSelect,
  isFound,
  keywords,
  children,
  aside,
}: PaletteItemProps) => (
  <Command.Item
    value={value}
    onSelect={onSelect}
    {...(isFound ? { forceMount: true } : {})}
    {...(keywords ? { keywords } : {})}
    className="flex min-h-10 cursor-pointer select-none items-center gap-3 rounded-lg px-2.5 py-1.5 data-[selected=true]:bg-mute-tint max-md:min-h-11"
  >
    <Icon className="size-4 shrink-0 text-soft" aria-hidden="true" />
    <span className="flex min-w-0 grow items-baseline gap-2">{children}</span>
    {aside}
  </Command.Item>
);
