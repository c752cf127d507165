/** Runs a task of a team when it is the team's turn. */
export type TeamTurns = <T>(teamId: string, task: () => Promise<T>) => Promise<T>;

/**
 * Runs at most `runningMax` tasks at a time, round-robin over teams: a team with many tasks does not delay
 * the others.
 */
export function createTeamTurns(runningMax: number): TeamTurns {
  /** Tasks by team, the next team first. A team moves to the end after its turn. */
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;

  const startNext = () => {
    for (const [teamId, [start, ...others]] of waiting) {
      waiting.delete(teamId);
      if (others.length > 0) waiting.set(teamId, others);
      start?.();
      return;
    }
    running--;
  };
  return async (teamId, task) => {
    if (running < runningMax) running++;
    else
      await new Promise<void>((start) => {
        const own = waiting.get(teamId);
        if (own) own.push(start);
        else waiting.set(teamId, [start]);
      });
    return task().finally(startNext);
  };
}
