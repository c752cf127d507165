/** The heading of the list, also shown while the list loads. */
export const HEADING = {
  title: "Templates",
  description:
    "The content of your emails, separate from your code. Programs send a template by its alias and provide the values.",
};
