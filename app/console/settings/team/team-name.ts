/** What is wrong with a team name, for immediate feedback. The server validates the name again. */
export function findNameFault(name: string): string | undefined {
  if (name.trim() === "") return "Enter a team name.";
  return name.length > 100 ? "Enter a team name of at most 100 characters." : undefined;
}
