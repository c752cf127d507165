import "server-only";
import { getConsoleDeps, getSettingFaults } from "#server/auth/deps";
import { getSchemaState } from "#server/services/health";

/** Why no page works, and what the operator can do. Each step names a setting if it is about one. */
export type InstallationFault = { title: string; steps: { setting?: string; text: string }[] };

const TITLES = {
  database_not_migrated: "The database is not migrated",
  release_unsupported: "The database requires a newer release",
};

let isKnownUsable = false;

/**
 * Why no page of this installation works; null if there is no such reason. The schema is checked until
 * it supports this build.
 */
export async function findInstallationFault(): Promise<InstallationFault | null> {
  const faults = getSettingFaults();
  if (faults)
    return {
      title: "Settings are not valid",
      steps: faults.map(({ name, reason }) => ({ setting: name, text: reason })),
    };
  if (isKnownUsable) return null;
  const state = await getSchemaState(getConsoleDeps());
  isKnownUsable = state === null;
  if (state === null || state === "unknown") return null;
  return { title: TITLES[state.reason], steps: [{ text: state.message }] };
}
