import { useConsoleHref } from "../_ui/team";
import { useTRPC } from "../_ui/trpc";
import { useAction } from "../_ui/use-action";

/** Copies a template as a draft and opens the copy. */
export function useDuplicate() {
  const trpc = useTRPC();
  const hrefOf = useConsoleHref();
  return useAction(trpc.templates.duplicate.mutationOptions(), {
    done: "Duplicated as a draft",
    refresh: [trpc.templates.list.queryKey()],
    goTo: ({ id }) => hrefOf(`/console/templates/${id}`),
  });
}
