/** The heading of the list, also shown while the list loads. */
export const HEADING = {
  title: "Templates",
  description: "Reusable email content. Send a template by its alias and pass the values of its variables.",
};
