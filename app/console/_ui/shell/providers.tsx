"use client";

import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink, type TRPCLink } from "@trpc/client";
import { type ReactNode, useState } from "react";
import type { AppRouter } from "#server/trpc/router";
import { checkConnection } from "../connection/connection";
import { faultOf, isEndOfSession } from "../fault";
import { setSignedOut } from "../session/signed-out";
import { TRPCProvider } from "../trpc";

const url = "/api/trpc";
/**
 * Procedures that sum over a long time. They have requests of their own, because a batch responds when its
 * slowest call has.
 */
const SLOW = ["overview.traffic", "overview.tags"];

const callServer: TRPCLink<AppRouter> = (runtime) => {
  const batched = httpBatchLink<AppRouter>({ url, maxItems: 10 })(runtime);
  const alone = httpBatchLink<AppRouter>({ url, maxItems: 1 })(runtime);
  return (call) => (SLOW.includes(call.op.path) ? alone : batched)(call);
};

// Avoids an immediate refetch of the data that the page was rendered with.
const freshMs = 5_000;
/** Error codes that are not retried. */
const FINAL = new Set(["BAD_REQUEST", "UNAUTHORIZED", "FORBIDDEN", "NOT_FOUND"]);

/** The tRPC client of the console and its query cache. */
export function CallProvider({ children }: { children: ReactNode }) {
  const [queryClient] = useState(createQueryClient);
  const [trpcClient] = useState(() => createTRPCClient<AppRouter>({ links: [callServer] }));
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={trpcClient} queryClient={queryClient}>
        {children}
      </TRPCProvider>
    </QueryClientProvider>
  );
}

function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: noticeFault }),
    mutationCache: new MutationCache({ onError: noticeFault }),
    defaultOptions: {
      // A call without a network fails. It would otherwise wait, and its button with it.
      mutations: { networkMode: "always" },
      queries: {
        networkMode: "always",
        staleTime: freshMs,
        retryDelay: 1_000,
        retry: (failures, error) => failures < 1 && !FINAL.has(faultOf(error).code ?? ""),
      },
    },
  });
}

function noticeFault(error: unknown): void {
  const fault = faultOf(error);
  if (isEndOfSession(fault)) setSignedOut(true);
  if (fault.code === null) void checkConnection();
}
