import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../trpc";

const staleMs = 60_000;

/** The API keys and the domains by which emails can be filtered. */
export function useChoices(teamId: string) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.emails.choices.queryOptions({ team: teamId }, { staleTime: staleMs }));
  return {
    keys: data?.keys.map(({ id, name }) => ({ value: id, label: name })) ?? [],
    domains: data?.domains.map((name) => ({ value: name, label: name })) ?? [],
  };
}
