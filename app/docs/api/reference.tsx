"use client";

import { useTheme } from "next-themes";
import { useEffect, useRef, useState } from "react";
import { SAMPLES } from "./samples";
import "swagger-ui-dist/swagger-ui.css";
import "./docs.css";

/** No requests to other hosts, and no API key is stored in the browser. */
const OPTIONS = {
  url: "/api/openapi.json",
  validatorUrl: null,
  persistAuthorization: false,
  queryConfigEnabled: false,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  filter: true,
};

/** Swagger UI, loaded on demand. It bundles its own copy of React. */
export function Reference() {
  const containerRef = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<"loading" | "ready" | "failed">("loading");
  const { resolvedTheme } = useTheme();

  useEffect(() => {
    // A new container for each mount: two roots of the bundled React must not share one.
    const container = document.createElement("div");
    containerRef.current?.append(container);
    let isUnmounted = false;
    const load = async () => {
      const { default: SwaggerUI } = await import("swagger-ui-dist/swagger-ui-es-bundle.js");
      if (isUnmounted) return;
      SwaggerUI({ ...OPTIONS, domNode: container, plugins: [SAMPLES], onComplete: () => setState("ready") });
    };
    load().catch(() => setState("failed"));
    return () => {
      isUnmounted = true;
      container.remove();
    };
  }, []);

  useEffect(() => {
    document.documentElement.classList.toggle("dark-mode", resolvedTheme === "dark");
    return () => document.documentElement.classList.remove("dark-mode");
  }, [resolvedTheme]);

  return (
    <>
      {state === "ready" ? null : (
        <p className="px-4 py-12 text-center text-soft" role="status">
          {state === "loading"
            ? "Loading the API reference…"
            : "The API reference could not be loaded. Reload the page, or open openapi.json."}
        </p>
      )}
      <div ref={containerRef} />
    </>
  );
}
