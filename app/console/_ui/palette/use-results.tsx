import { keepPreviousData, useQuery } from "@tanstack/react-query";
import {
  Ban,
  Globe,
  Hash,
  KeyRound,
  LayoutTemplate,
  type LucideIcon,
  Mail,
  Search,
  Users,
  Webhook,
} from "lucide-react";
import type { ReactNode } from "react";
import type { Status } from "#server/shared/email-words";
import { useSettled } from "../form/use-settled";
import { useTeam } from "../team";
import { StatusBadge } from "../text/badge";
import { useTRPC } from "../trpc";
import type { Go, PaletteGroup, PaletteItem } from "./palette-item";

/** Delay after the last key press. It avoids a search for each incomplete word. */
const settleMs = 200;
const lettersMin = 2;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The page of an object that was found, and what its line shows. */
type Found = { path: string; parameters?: Record<string, string>; name: string; note?: string | null };
type Results = { groups: PaletteGroup[]; isPending: boolean; hasFailed: boolean };

/**
 * What the text finds in the team, by noun, and whether the search for this text is still in progress or has
 * failed.
 */
export function useResults(text: string, go: Go): Results {
  const trpc = useTRPC();
  const { team } = useTeam();
  const settled = useSettled(text, settleMs);
  const isSearched = team !== null && text.length >= lettersMin;
  const { data, isFetching, isError } = useQuery(
    trpc.search.everything.queryOptions(
      { team: team?.teamId ?? "", text: settled },
      {
        enabled: isSearched && settled.length >= lettersMin,
        placeholderData: keepPreviousData,
        retry: false,
      },
    ),
  );
  if (!isSearched) return { groups: [], isPending: false, hasFailed: false };
  const group = <Row extends { id: string; status?: Status }>(
    heading: string,
    Icon: LucideIcon,
    rows: readonly Row[] = [],
    find: (row: Row) => Found,
  ): PaletteGroup => ({
    heading,
    items: rows.map((row) => {
      const { path, parameters, name, note } = find(row);
      return {
        value: `${heading} ${row.id}`,
        Icon,
        onSelect: () => go(path, parameters),
        content: <Line aside={note}>{name}</Line>,
        aside: row.status && <StatusBadge status={row.status} />,
      };
    }),
  });
  const pageIn = (list: string) => (row: { id: string; name: string }) => {
    return { path: `/console/${list}/${row.id}`, name: row.name };
  };
  const byId: PaletteItem = {
    value: "id",
    Icon: Hash,
    onSelect: () => go(`/console/emails/${text}`),
    content: "Open the email with this id",
  };
  const inList: PaletteItem = {
    value: "all emails",
    Icon: Search,
    onSelect: () => go("/console/emails", { search: text }),
    content: <Line>Search all emails for “{text}”</Line>,
  };
  const members = data?.members.map(({ userId: id, ...member }) => ({ id, ...member }));
  const groups = [
    { heading: "Email", items: UUID.test(text) ? [byId] : [] },
    group("Emails", Mail, data?.emails, ({ id, subject, to }) => {
      return { path: `/console/emails/${id}`, name: subject || "No subject", note: to };
    }),
    group("Templates", LayoutTemplate, data?.templates, pageIn("templates")),
    group("Domains", Globe, data?.domains, pageIn("domains")),
    group("API keys", KeyRound, data?.keys, pageIn("keys")),
    group("Webhooks", Webhook, data?.webhooks, ({ id, url }) => pageIn("webhooks")({ id, name: url })),
    group("Suppressions", Ban, data?.suppressions, ({ address }) => {
      return { path: "/console/suppressions", parameters: { search: address }, name: address };
    }),
    group("Members", Users, members, ({ name, email }) => {
      return { path: "/console/settings/members", name: name || email, note: name ? email : null };
    }),
    { heading: "Search", items: [inList] },
  ];
  const isPending = settled !== text || isFetching;
  return { groups, isPending, hasFailed: isError && !isPending };
}

const Line = ({ children, aside }: { children: ReactNode; aside?: string | null }) => (
  <>
    <span className="truncate">{children}</span>
    {aside ? <span className="truncate text-soft text-xs">{aside}</span> : null}
  </>
);
