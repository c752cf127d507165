import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Ban, Globe, Hash, KeyRound, LayoutTemplate, Mail, Search, Users, Webhook } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { useTeam } from "../team";
import { StatusBadge } from "../text/badge";
import { useTRPC } from "../trpc";
import type { Go, PaletteGroup, PaletteItem } from "./palette-item";

/** Delay after the last key press. It avoids a search for each incomplete word. */
const settleMs = 200;
const lettersMin = 2;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Results = { groups: PaletteGroup[]; isPending: boolean; hasFailed: boolean };

/**
 * What the text finds in the team, by noun, and whether the search for this text is still in progress or has
 * failed.
 */
export function useResults(text: string, go: Go): Results {
  const trpc = useTRPC();
  const { team } = useTeam();
  const settled = useSettled(text);
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
  const group = <Row,>(
    heading: string,
    Icon: PaletteItem["Icon"],
    rows: readonly Row[] = [],
    itemOf: (row: Row) => Pick<PaletteItem, "content" | "aside" | "onSelect"> & { id: string },
  ): PaletteGroup => ({
    heading,
    items: rows.map((row) => {
      const { id, ...item } = itemOf(row);
      return { value: `${heading} ${id}`, Icon, ...item };
    }),
  });
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
  const groups = [
    { heading: "Email", items: UUID.test(text) ? [byId] : [] },
    group("Emails", Mail, data?.emails, ({ id, subject, to, status }) => ({
      id,
      onSelect: () => go(`/console/emails/${id}`),
      content: <Line aside={to}>{subject || "No subject"}</Line>,
      aside: <StatusBadge status={status} />,
    })),
    group("Templates", LayoutTemplate, data?.templates, ({ id, name }) => ({
      id,
      onSelect: () => go(`/console/templates/${id}`),
      content: <Line>{name}</Line>,
    })),
    group("Domains", Globe, data?.domains, ({ id, name }) => ({
      id,
      onSelect: () => go(`/console/domains/${id}`),
      content: <Line>{name}</Line>,
    })),
    group("API keys", KeyRound, data?.keys, ({ id, name }) => ({
      id,
      onSelect: () => go(`/console/keys/${id}`),
      content: <Line>{name}</Line>,
    })),
    group("Webhooks", Webhook, data?.webhooks, ({ id, url }) => ({
      id,
      onSelect: () => go(`/console/webhooks/${id}`),
      content: <Line>{url}</Line>,
    })),
    group("Suppressions", Ban, data?.suppressions, ({ id, address }) => ({
      id,
      onSelect: () => go("/console/suppressions", { search: address }),
      content: <Line>{address}</Line>,
    })),
    group("Members", Users, data?.members, ({ userId, email, name }) => ({
      id: userId,
      onSelect: () => go("/console/settings/members"),
      content: <Line aside={name ? email : null}>{name || email}</Line>,
    })),
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

/** The text, updated when the user stops typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settleMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
