/** The heading of the list, also shown while the list loads. */
export const HEADING = {
  title: "API keys",
  description: "Programs authenticate their API requests with a key. Each key has its own permissions.",
};
