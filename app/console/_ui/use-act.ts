"use client";

import { type QueryKey, type UseMutationOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { type Fault, faultOf } from "./fault";
import { prepareToasts, sayDone, sayFault } from "./toasts";

type After<Result, Input> = {
  /** Said when it is done: "Key revoked". */
  done?: string | ((result: Result, input: Input) => string | null);
  /** Keys of the queries that it changes; they are asked again before it counts as done. */
  refresh?: readonly QueryKey[];
  onDone?: (result: Result, input: Input) => void;
};

/** Something that changes things: how to do it, whether it is under way, and why it was refused. */
export type Act<Input, Result> = {
  act: (input: Input) => void;
  isBusy: boolean;
  /** Whoever reads it shows it in its place; where nobody does, a toast says it. */
  readonly fault: Fault | null;
  /** The answer of the last time, for what is shown only once. */
  result: Result | undefined;
  /** Forgets the last answer and the last refusal, for a dialog that opens anew. */
  reset: () => void;
};

/**
 * An act of the console by one call: `useAct(trpc.keys.revoke.mutationOptions(), { done: "Key revoked", refresh:
 * [trpc.keys.list.queryKey()] })`. While it is under way a second press does nothing.
 */
export function useAct<Input, Result, Failure, Context>(
  options: UseMutationOptions<Result, Failure, Input, Context>,
  { done, refresh = [], onDone }: After<Result, Input> = {},
): Act<Input, Result> {
  const queries = useQueryClient();
  let isShown = false;
  const mutation = useMutation({
    ...options,
    onSuccess: async (result, input) => {
      await Promise.all(refresh.map((queryKey) => queries.invalidateQueries({ queryKey })));
      const said = typeof done === "function" ? done(result, input) : done;
      if (said) sayDone(said);
      onDone?.(result, input);
    },
    onError: (error) => {
      const fault = faultOf(error);
      if (!isShown && fault.code !== "UNAUTHORIZED") sayFault(fault);
    },
  });
  return {
    act: (input) => {
      if (mutation.isPending) return;
      prepareToasts();
      mutation.mutate(input);
    },
    isBusy: mutation.isPending,
    get fault() {
      isShown = true;
      return mutation.error ? faultOf(mutation.error) : null;
    },
    result: mutation.data,
    reset: mutation.reset,
  };
}
