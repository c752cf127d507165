/** What a team may be called, told while somebody types; the server judges. */
export const nameRules = {
  validate: (text: string) => text.trim() !== "" || "Give the team a name.",
  maxLength: { value: 100, message: "Give the team a name of at most 100 characters." },
};
