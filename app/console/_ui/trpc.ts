"use client";

import { createTRPCContext } from "@trpc/tanstack-react-query";
import type { AppRouter } from "#server/trpc/router";

/** The console's calls in the browser, typed by the router. */
export const { TRPCProvider, useTRPC } = createTRPCContext<AppRouter>();
