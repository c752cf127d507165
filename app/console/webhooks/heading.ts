/** The heading of the list, also shown while the list loads. */
export const HEADING = {
  title: "Webhooks",
  description: "URLs of your programs that receive events about your email.",
};
