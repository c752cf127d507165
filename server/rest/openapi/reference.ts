import { z } from "zod";
import { type Route, withApi } from "../pipeline/route";
import { documentOf } from "./document";

/** The route that serves the API reference of all routes, including itself. The document is generated on the first call. */
export function referenceOf(listRoutes: () => readonly Route[]): Route {
  let document: ReturnType<typeof documentOf> | undefined;
  return withApi(
    {
      route: "GET /api/openapi.json",
      access: "public",
      tier: "none",
      summary: "Get this API reference as an OpenAPI 3.1 document",
      response: z.looseObject({
        openapi: z.literal("3.1.1"),
        info: z.looseObject({ title: z.string(), version: z.string() }),
        paths: z.record(z.string(), z.unknown()),
      }),
    },
    async () => {
      document ??= documentOf(listRoutes());
      return document;
    },
  );
}
