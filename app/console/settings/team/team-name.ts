/** Form rules for a team name, for immediate feedback. The server validates the name again. */
export const nameRules = {
  validate: (text: string) => text.trim() !== "" || "Enter a team name.",
  maxLength: { value: 100, message: "Enter a team name of at most 100 characters." },
};
