"use client";

import { type QueryKey, type UseMutationOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useTransition } from "react";
import { preloadToasts, showError, showSuccess } from "./dialog/toasts";
import { type Fault, shownFaultOf } from "./fault";

type After<Result, Input> = {
  /** The success message: "Key revoked". */
  done?: string | ((result: Result, input: Input) => string | null);
  /** Keys of the queries to refetch before the action counts as done. */
  refresh?: readonly QueryKey[];
  onDone?: (result: Result, input: Input) => void;
  /** The page that opens next. Until it is there the action is in progress, so it cannot be repeated. */
  goTo?: (result: Result) => string;
};

/** Whether an action is in progress, and why it failed. */
export type ActionState = {
  isBusy: boolean;
  /** The error. A component that reads this property must display the error; otherwise a toast does. */
  readonly fault: Fault | null;
};

/** An action and how to start it. */
export type Action<Input, Result> = ActionState & {
  run: (input: Input) => void;
  /** The last result, for values that are shown only once. */
  result: Result | undefined;
  /** Clears the last result and error, for a dialog that opens again. */
  reset: () => void;
};

/**
 * A console action with one call: `useAction(trpc.keys.revoke.mutationOptions(), { done: "Key revoked",
 * refresh: [trpc.keys.list.queryKey()] })`. While it is in progress, further calls of `run` are ignored.
 */
export function useAction<Input, Result, Failure, Context>(
  options: UseMutationOptions<Result, Failure, Input, Context>,
  { done, refresh = [], onDone, goTo }: After<Result, Input> = {},
): Action<Input, Result> {
  const queries = useQueryClient();
  const router = useRouter();
  const [isLeaving, startLeaving] = useTransition();
  let isShown = false;
  const mutation = useMutation({
    ...options,
    onSuccess: async (result, input) => {
      await Promise.all(refresh.map((queryKey) => queries.invalidateQueries({ queryKey })));
      const message = typeof done === "function" ? done(result, input) : done;
      if (message) showSuccess(message);
      onDone?.(result, input);
      if (goTo) startLeaving(() => router.push(goTo(result)));
    },
    onError: (error) => {
      const fault = shownFaultOf(error);
      if (!isShown && fault) showError(fault);
    },
  });
  return {
    run: (input) => {
      if (mutation.isPending || isLeaving) return;
      preloadToasts();
      mutation.mutate(input);
    },
    isBusy: mutation.isPending || isLeaving,
    get fault() {
      isShown = true;
      return shownFaultOf(mutation.error);
    },
    result: mutation.data,
    reset: mutation.reset,
  };
}
