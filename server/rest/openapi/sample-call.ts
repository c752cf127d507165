import type { Route } from "../pipeline/route";

/** The id in examples. */
const sampleId = "0198c1f2-7a34-7c5e-9b0d-3f4a5b6c7d8e";

/** A call in samples, which read the base URL and the key from BACKSTAMP_URL and BACKSTAMP_KEY. */
export type SampleCall = ReturnType<typeof sampleCallOf>;

/** An example value for a path variable. */
export const sampleValueOf = (name: string): string => (name === "version" ? "1" : sampleId);

/** The example of a route as a call. */
export function sampleCallOf({ method, path, access, accepts, example = {} }: Route) {
  const query = new URLSearchParams(example.query).toString();
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => sampleValueOf(name));
  return {
    /** Method and path of the route, with `{name}` for a variable. */
    route: `${method} ${path}`,
    method,
    /** Path with query. */
    target: query === "" ? filled : `${filled}?${query}`,
    /** The values of the path variables, in order. */
    variables: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => sampleValueOf(name)),
    query: example.query ?? {},
    headers: [
      ...Object.entries(example.headers ?? {}),
      ...(example.body === undefined
        ? []
        : [["content-type", accepts ?? "application/json"] satisfies [string, string]]),
    ].map(([name, value]): [name: string, value: string] => [
      name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase()),
      value,
    ]),
    needsKey: access !== "public",
    json: accepts ? undefined : example.body,
    text: accepts ? String(example.body) : undefined,
  };
}
