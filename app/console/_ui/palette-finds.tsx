"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { Globe, Hash, LayoutTemplate, Mail, Search } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { groupStyle, PaletteItem } from "./palette-item";
import { StatusBadge } from "./status-badge";
import { useTeam } from "./team";
import { useTRPC } from "./trpc";

/** After the last key press; a search for half a word helps nobody. */
const settleMs = 200;
const shownMax = 5;
const AN_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Props = { text: string; go: (path: string, query?: string) => void };

/** What the team itself has that is called so. Asked for once something is typed, each kind by its own list's call. */
export function PaletteFinds({ text, go }: Props) {
  const trpc = useTRPC();
  const { team } = useTeam();
  const settled = useSettled(text);
  const isAsked = settled.length > 1 && team !== null;
  const input = { team: team?.teamId ?? "" };
  const options = { enabled: isAsked, placeholderData: keepPreviousData, retry: false } as const;
  const mails = useQuery(trpc.emails.list.queryOptions({ ...input, search: settled }, options));
  const templates = useQuery(trpc.templates.list.queryOptions({ ...input, search: settled }, options));
  const domains = useQuery(trpc.domains.list.queryOptions({ ...input, name: settled }, options));
  if (!isAsked) return null;
  const rowsOf = <Row,>(data: { rows: Row[] } | undefined) => data?.rows.slice(0, shownMax) ?? [];
  return (
    <>
      {AN_ID.test(text) ? (
        <PaletteItem isFound value={`id ${text}`} Icon={Hash} onSelect={() => go(`/console/emails/${text}`)}>
          Open the mail with this id
        </PaletteItem>
      ) : null}
      <Found heading="Emails" rows={rowsOf(mails.data)}>
        {({ id, recipient, subject, status }) => (
          <PaletteItem
            isFound
            key={id}
            value={`mail ${id}`}
            Icon={Mail}
            onSelect={() => go(`/console/emails/${id}`)}
            aside={<StatusBadge status={status} />}
          >
            <span className="truncate">{subject || "No subject"}</span>
            <span className="truncate text-soft text-xs">{recipient}</span>
          </PaletteItem>
        )}
      </Found>
      <Found heading="Templates" rows={rowsOf(templates.data)}>
        {({ id, name }) => (
          <PaletteItem
            isFound
            key={id}
            value={`template ${id}`}
            Icon={LayoutTemplate}
            onSelect={() => go(`/console/templates/${id}`)}
          >
            <span className="truncate">{name}</span>
          </PaletteItem>
        )}
      </Found>
      <Found heading="Domains" rows={rowsOf(domains.data)}>
        {({ id, name }) => (
          <PaletteItem
            isFound
            key={id}
            value={`domain ${id}`}
            Icon={Globe}
            onSelect={() => go(`/console/domains/${id}`)}
          >
            <span className="truncate">{name}</span>
          </PaletteItem>
        )}
      </Found>
      <PaletteItem
        isFound
        value="search all emails"
        Icon={Search}
        onSelect={() => go("/console/emails", `q=${encodeURIComponent(text)}`)}
      >
        <span className="truncate">Search all emails for “{text}”</span>
      </PaletteItem>
    </>
  );
}

type FoundProps<Row> = { heading: string; rows: Row[]; children: (row: Row) => ReactNode };

function Found<Row>({ heading, rows, children }: FoundProps<Row>) {
  if (rows.length === 0) return null;
  return (
    <Command.Group forceMount heading={heading} className={groupStyle}>
      {rows.map(children)}
    </Command.Group>
  );
}

/** A text as it was when nobody typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
