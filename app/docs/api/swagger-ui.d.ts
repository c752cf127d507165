/** The parts of Swagger UI that we use. The package has no types. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  import type { ComponentType, ReactNode } from "react";

  type Inner = ComponentType<Record<string, unknown>>;

  /** The argument of a plugin: the React copy of Swagger UI, and the OpenAPI document. */
  export type System = {
    React: typeof import("react");
    specSelectors: { specJson(): { getIn(path: string[]): { toJS(): unknown } | undefined } };
  };

  export type Options = {
    domNode: HTMLElement;
    url: string;
    plugins: {
      wrapComponents: Record<
        string,
        (Original: Inner, system: System) => (props: Record<string, unknown>) => ReactNode
      >;
    }[];
    onComplete(): void;
    [option: string]: unknown;
  };

  const SwaggerUI: (options: Options) => unknown;
  export = SwaggerUI;
}
